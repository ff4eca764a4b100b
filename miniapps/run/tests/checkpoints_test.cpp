// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is told of checkpoints, which stay when one cannot be written, and which are refused.
#include "run/checkpoint/restart.hpp"
#include "run/tests/first_ranks.hpp"
#include "run/tests/loan.hpp"
#include "run/tests/refusal.hpp"

#include <fmt/format.h>

#include <fstream>
#include <iterator>

extern "C" void kontor_fault_arm(long long after);
extern "C" void kontor_fault_rename(int after);
extern "C" void kontor_fault_create(int fails);

namespace kontor::miniapp {
namespace {

namespace fs = std::filesystem;
using test::Folder;

/// An app whose state is as many values on each rank.
class Values final : public MiniApp {
 public:
  explicit Values(const comm::Communicator& comm) : comm_(&comm), values_(values_each, 0.5) {}
  void warm_up() override {}
  void reset() override {}
  void run() override {}
  void write_state(output::File& file) const override {
    const auto ranks = static_cast<std::uint64_t>(comm_->size()), rank = static_cast<std::uint64_t>(comm_->rank());
    file.dataset("/state/u", {{ranks * values_each}, {rank * values_each}, {values_each}}, values_.data());
  }
  Verification verify() override { return {}; }
  std::vector<FigureOfMerit> figures(double, const Calibration&) const override { return {}; }
  nlohmann::ordered_json record() const override { return {}; }
  std::optional<FieldOutput> write_fields(output::File&, const std::string&) const override { return {}; }

 private:
  static constexpr std::uint64_t values_each = 5000;
  const comm::Communicator* comm_;
  std::vector<double> values_;
};

/// Collective. Checkpoints of such an app after these steps.
struct Written : test::Loan {
  Written(std::string file, std::int64_t keep, const CheckpointHeader& header, const std::vector<std::int64_t>& steps)
      : Loan("heat", comm::Communicator(MPI_COMM_WORLD), test::checkpoints(std::move(file), 0, keep), header) {
    for (const auto step : steps) write(step);
  }
  void write(std::int64_t step) const { checkpoints->write(step, Values(comm)); }
};

CheckpointHeader header_of_heat() {
  return {.app = "heat", .keys = {{"problem.cells", "[8, 8]"}, {"problem.precision", "double"}}};
}

template <class Error>
void expect_refused(const std::function<void()>& action, const std::vector<std::string>& facts) {
  test::expect_facts(test::error_of<Error>(action), facts);
}

std::string bytes_of(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

TEST(Checkpoints, AreInTheRecord) {
  const Folder folder("checkpoints-record");
  const std::string file = folder / "u.h5";
  const Written written(file, 9, header_of_heat(), {3, 5, 12});
  if (test::world_rank() != 0) return;
  const auto json = written.checkpoints->record(8);
  EXPECT_EQ(json["written"], 3);
  EXPECT_EQ(json["steps"], (std::vector{3, 5, 12}));
  EXPECT_EQ(json["newest"], checkpoint_name(file, 12).string());
  std::uintmax_t bytes = 0;
  for (const int step : {3, 5, 12}) bytes += fs::file_size(checkpoint_name(file, step));
  EXPECT_EQ(json["bytes"], bytes);
  EXPECT_GT(json["seconds"], 0);
  EXPECT_DOUBLE_EQ(json["bandwidth"], static_cast<double>(bytes) / json["seconds"].get<double>());
  EXPECT_DOUBLE_EQ(json["overhead"], json["seconds"].get<double>() / 8);
  EXPECT_EQ(json.size(), 7u) << json.dump();
}

/// Though only one is kept: on a full disk, one that takes no files, and where the name cannot be given.
TEST(Checkpoints, TheOlderStaysIfOneCannotBeWritten) {
  if (output::hdf5_version().starts_with("2"))
    GTEST_SKIP() << "HDF5 2.2 of Debian sid ends the program by an assertion";
  const Folder folder("checkpoints-failed");
  const auto lasts = test::world_rank() == test::world_size() - 1; // the fault is on one rank
  const std::vector<std::pair<std::string, std::function<void()>>> faults{
      {"full", [&] { kontor_fault_arm(lasts ? 0 : -1); }},
      {"filling", [&] { kontor_fault_arm(lasts ? 20000 : -1); }},
      {"fileless", [] { kontor_fault_create(1); }},
      {"nameless", [] { kontor_fault_rename(0); }}};
  for (const auto& [name, breaks] : faults) {
    SCOPED_TRACE(name);
    const std::string file = folder / (name + ".h5");
    const auto older = checkpoint_name(file, 1), newer = checkpoint_name(file, 2);
    {
      Written written(file, 1, header_of_heat(), {1});
      const auto before = bytes_of(older);
      breaks();
      expect_refused<output::Error>([&] { written.write(2); },
                                    {"checkpoint after step 2: ", "; " + older.string() + " is there"});
      kontor_fault_arm(-1);
      kontor_fault_rename(-1);
      kontor_fault_create(0);
      MPI_Barrier(MPI_COMM_WORLD);
      EXPECT_TRUE(bytes_of(older) == before);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    EXPECT_FALSE(fs::exists(newer));
    const Restart restart(MPI_COMM_WORLD, file);
    EXPECT_EQ(restart.path(), older.string());
    EXPECT_EQ(restart.note(), "");
    MPI_Barrier(MPI_COMM_WORLD);
    Written(file, 1, restart.header(), {2}); // the disk works again, and the run goes on
    EXPECT_TRUE(fs::exists(newer));
    EXPECT_FALSE(fs::exists(older));
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

TEST(Restart, RefusesAnotherFormat) {
  const Folder folder("restart-format");
  auto header = header_of_heat();
  header.format = CheckpointHeader::current_format + 1;
  const std::string file = folder / "u.h5";
  Written(file, 1, header, {7});
  expect_refused<config::Error>([&] { const Restart restart(MPI_COMM_WORLD, file); },
                                {"restart: ", checkpoint_name(file, 7), fmt::format(" is of format {}", header.format),
                                 fmt::format("reads format {}", CheckpointHeader::current_format)});
}

TEST(Restart, RefusesWhatMustStay) {
  const Folder folder("restart-keys");
  const std::string file = folder / "u.h5";
  Written(file, 1, header_of_heat(), {7});
  const Restart restart(MPI_COMM_WORLD, file);
  const auto deck = config::Deck::parse("app: heat\nproblem: {cells: [8, 8],\n  precision: float}\n", "d.yaml");
  const auto name = checkpoint_name(file, 7).string();
  const std::vector<config::Setting> same{{"problem.cells", "[8, 8]"}, {"problem.precision", "double"}};
  restart.require_same("heat", deck, same, {});
  expect_refused<config::Error>([&] { restart.require_same("cg", deck, same, {}); },
                                {"restart: " + name + " is a checkpoint of 'heat', but this program is 'cg'"});

  const std::vector<config::Setting> other{
      {"problem.cells", "[8, 8]"}, {"problem.precision", "float"}, {"solver.sums", "any_order"}};
  expect_refused<config::Error>(
      [&] {
        restart.require_same("heat", deck, other, {"solver.sum", "problem", "roblem."});
      },
      {"d.yaml:3:14: problem.precision is float; in " + name + " it is double, and a restart cannot change it",
       "solver.sums is any_order; in " + name + " it is not there"});
  expect_refused<config::Error>([&] { restart.require_same("heat", deck, other, {"solver."}); }, {"problem.precision"});
  restart.require_same("heat", deck, other, {"solver.", "problem.precision"});
}

} // namespace
} // namespace kontor::miniapp
