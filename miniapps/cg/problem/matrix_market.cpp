// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cg/problem/distribute.hpp"
#include "cg/problem/problem.hpp"
#include "grid/axis_parts.hpp"
#include "machine/memory.hpp"
#include "machine/user_error.hpp"
#include "partition/matrix_market_reader.hpp"
#include "partition/metis_partition.hpp"
#include "partition/row_order.hpp"

#include <kontor/config/error.hpp>
#include <kontor/config/text.hpp>

#include <fmt/format.h>

#include <cerrno>
#include <filesystem>
#include <fstream>

namespace kontor::cg {
namespace {

/// Local. Throws config::Error, at the key that names the file, if it cannot be read.
std::ifstream open(const config::InputFile& file) {
  const auto refuse = [&](const char* why) {
    file.location.fail(fmt::format("cannot be read: {}: {}", file.path, why), "E-FILE-READ");
  };
  std::error_code ignored;
  if (std::filesystem::is_directory(file.path, ignored)) refuse("it is a directory");
  errno = 0;
  std::ifstream in(file.path, std::ios::binary);
  if (!in) refuse(errno != 0 ? std::strerror(errno) : "it cannot be opened");
  return in;
}

/// Local. All that the deck's files hold, checked.
WholeSystem read(const MatrixMarketOptions& options, int ranks) {
  auto in = open(options.file);
  std::optional<std::ifstream> rhs, initial; // a name that is wrong is told before a long file is read
  if (options.rhs == RhsKind::file) rhs = open(options.rhs_file);
  if (!options.initial_file.path.empty()) initial = open(options.initial_file);
  WholeSystem whole;
  auto& matrix = whole.matrix;
  matrix = read_matrix(in, options.file.path, miniapp::free_host_memory());
  if (matrix.rows < ranks)
    options.file.location.fail(fmt::format("{} has {} rows, fewer than there are ranks ({}): start {} ranks or "
                                           "fewer",
                                           options.file.path, matrix.rows, ranks, matrix.rows),
                               "E-DECK-RANKS");
  sort_entries(matrix);
  require_symmetric_with_positive_diagonal(matrix);
  if (rhs) whole.rhs = read_vector(*rhs, options.rhs_file.path, matrix.rows);
  if (initial) whole.initial = read_vector(*initial, options.initial_file.path, matrix.rows);
  return whole;
}

/// Collective. Calls work() on rank 0; its config::Error is thrown on every rank.
template <class Work>
void on_rank_0(const comm::Communicator& comm, const Work& work) {
  std::optional<std::string> problem;
  try {
    if (comm.rank() == 0) work();
  } catch (const config::Error& error) {
    problem = error.what();
  }
  miniapp::agree_on_user_error(comm, problem,
                               "E-FILE-FORMAT"); // others wait here for the file, however long it is
}

class MatrixMarket final : public Problem {
 public:
  MatrixMarket(const Options& options, const miniapp::RunContext& context)
      : options_(options.matrix_market), solver_(options.solver), comm_(context.comm.share()), timers_(context.timers) {
  }

  LinearSystem build(const TakeFile& take) override {
    WholeSystem whole;
    {
      const miniapp::ScopedTimer timed(timers_.once("read", "io"));
      on_rank_0(comm_, [&] { whole = read(options_, comm_.size()); });
    }
    {
      const miniapp::ScopedTimer timed(timers_.once("partition"));
      on_rank_0(comm_, [&] {
        plan(whole);
        if (take) take(whole);
      });
    }
    const miniapp::ScopedTimer timed(timers_.once("structure"));
    auto system = distribute(comm_, std::move(whole), options_.rhs, solver_);
    partition_ = system.partition;
    return system;
  }

  /// In the order of the file.
  std::optional<miniapp::FieldOutput> write(output::File& file, const std::string& group,
                                            const Vector& solution) const override {
    write_vector(file, group + "/" + field(), solution);
    return std::nullopt;
  }
  void write_vector(output::File& file, const std::string& dataset, const Vector& v) const override {
    file.dataset<double>(dataset, block_of_rows(), in_row_order(comm_, partition_, v).data());
  }
  void read_vector(const output::Reader& reader, const std::string& dataset, const Vector& v) const override {
    const auto block = block_of_rows();
    std::vector<double> values(block.extent[0]);
    reader.read<double>(dataset, block, values.data());
    from_row_order(comm_, partition_, values, v);
  }

  nlohmann::ordered_json matrix_record() const override { return record_; }

 private:
  /// Local. Those of this rank, if all rows are divided in their order.
  output::Block block_of_rows() const {
    const auto row = [&](int rank) {
      return static_cast<std::uint64_t>(grid::part_begin(partition_.rows, comm_.size(), rank));
    };
    const int rank = comm_.rank();
    return {{static_cast<std::uint64_t>(partition_.rows)}, {row(rank)}, {row(rank + 1) - row(rank)}};
  }

  /// At rank 0.
  void plan(WholeSystem& whole) {
    const auto& matrix = whole.matrix;
    const bool metis = options_.partition == PartitionKind::metis;
    if (const auto refusal = metis ? metis_refusal(weight_of(matrix)) : std::nullopt)
      options_.partition.location.fail(fmt::format("metis {}", *refusal));
    whole.plan = plan_rows(matrix, options_.partition, comm_.size(), miniapp::free_host_memory());
    record_ = {{"file", config::printable(options_.file.path)},
               {"file_crc32", fmt::format("{:08x}", matrix.crc32)},
               {"file_symmetry", matrix.symmetric ? "symmetric" : "general"},
               {"partition", metis ? "metis" : "rows"},
               {"bandwidth", whole.plan.bandwidth},
               {"cut", whole.plan.cut},
               {"imbalance", whole.plan.imbalance()}};
  }

  MatrixMarketOptions options_;
  SolverOptions solver_;
  comm::Communicator comm_;
  miniapp::Timers& timers_;
  Partition partition_;
  nlohmann::ordered_json record_ = nlohmann::ordered_json::object();
};

} // namespace

std::unique_ptr<Problem> make_matrix_market(const Options& options, const miniapp::RunContext& context) {
  return std::make_unique<MatrixMarket>(options, context);
}

} // namespace kontor::cg
