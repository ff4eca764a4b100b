// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Pattern `two_hop`: ranks that exchange with each other form a grid, as nearly square as their number allows. A
// message goes along the row to the column of its destination, and then along that column. So a rank sends to one row
// and one column, fewer messages of more bytes: MPI_Ialltoallw twice. Of a prime number of ranks the grid is one row.
#include "backend/mpi/partners.hpp"

#include <kontor/comm/mpi_check.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <numeric>

namespace kontor::comm::mpi {
namespace {

using Numbers = std::vector<std::int64_t>;

/// The rows are no more than the columns.
std::size_t columns_of(std::size_t ranks) {
  std::size_t rows = 1;
  for (std::size_t n = 2; n * n <= ranks; ++n)
    if (ranks % n == 0) rows = n;
  return ranks / rows;
}

std::int64_t bytes_of(const Message& m) {
  MPI_Count size = 0;
  check(MPI_Type_size_x(m.type, &size), "MPI_Type_size_x");
  return size * m.count;
}

/// Bytes somewhere in memory, as many as there are: MPI counts by int.
struct Bytes {
  explicit Bytes(std::int64_t bytes) : payload_(payload(bytes, {ScalarKind::bytes, 1})) {}
  BundlePiece piece(std::size_t rank, const std::byte* data) const {
    return {rank, data, payload_.count, payload_.type};
  }

 private:
  Payload payload_;
};

/// One of the two steps.
struct Hop {
  MPI_Comm comm;
  Bundles out, in;

  int start(MPI_Request& request) const {
    return MPI_Ialltoallw(MPI_BOTTOM, out.counts.data(), out.places.data(), out.types.data(), MPI_BOTTOM,
                          in.counts.data(), in.places.data(), in.types.data(), comm, &request);
  }
};

class TwoHop final : public MpiPlan {
 public:
  TwoHop(const BackendContext& context, MessageSet messages)
      : MpiPlan(context, messages.label), messages_(std::move(messages)), group_(partners_of(context.comm, messages_)) {
    const auto ranks = group_.ranks.size(), columns = columns_of(ranks), rows = ranks / columns;
    int me = 0;
    check(MPI_Comm_rank(group_.comm, &me), "MPI_Comm_rank");
    const auto row = split(group_.comm, me / static_cast<int>(columns));
    const auto column = split(group_.comm, me % static_cast<int>(columns));
    const auto in_order = [this](const Message& a, const Message& b) { return a.peer < b.peer; };
    std::ranges::stable_sort(messages_.sends, in_order); // of each rank in the order of their tags
    std::ranges::stable_sort(messages_.receives, in_order);

    // In the order of members of the row and then of rows: what others of this row send to ranks of this column.
    Numbers to_columns(ranks, 0), forwarded(ranks, 0);
    std::vector<BundlePiece> sent, received, arriving, leaving;
    for (const auto& m : messages_.sends) {
      const auto to = group_.number_of(m.peer);
      to_columns[to % columns * rows + to / columns] += bytes_of(m);
      sent.push_back({to % columns, m.data, m.count, m.type});
    }
    for (const auto& m : messages_.receives)
      received.push_back({group_.number_of(m.peer) / columns, m.data, m.count, m.type});
    const auto each = static_cast<int>(rows);
    check(MPI_Alltoall(to_columns.data(), each, MPI_INT64_T, forwarded.data(), each, MPI_INT64_T, row), "MPI_Alltoall");

    const auto total = std::accumulate(forwarded.begin(), forwarded.end(), std::int64_t{0});
    between_ = std::make_unique<std::byte[]>(static_cast<std::size_t>(total));
    const auto* place = between_.get();
    std::vector<Bytes> made;
    made.reserve(ranks);
    for (std::size_t i = 0; i < ranks; ++i) {
      if (forwarded[i] == 0) continue;
      const auto& bytes = made.emplace_back(forwarded[i]);
      arriving.push_back(bytes.piece(i / rows, place)); // from a member of the row
      leaving.push_back(bytes.piece(i % rows, place));  // to a row of the column
      place += forwarded[i];
    }
    hops_.push_back({row, {columns, sent}, {columns, arriving}});
    hops_.push_back({column, {rows, leaving}, {rows, received}});
  }

  /// Collective, unless this rank ends alone.
  ~TwoHop() override {
    if (ends_alone()) return;
    check_or_terminate(MPI_Wait(&request_, MPI_STATUS_IGNORE), "MPI_Wait");
    for (auto* comm : {&hops_[0].comm, &hops_[1].comm, &group_.comm})
      check_or_terminate(MPI_Comm_free(comm), "MPI_Comm_free");
  }

  void start() override { begin(0); }

  void finish() override {
    for (;;) {
      check_step(MPI_Wait(&request_, MPI_STATUS_IGNORE), "MPI_Ialltoallw");
      if (hop_ == 1) return;
      begin(1);
    }
  }

  bool test() override {
    int done = 0;
    check_step(MPI_Test(&request_, &done, MPI_STATUS_IGNORE), "MPI_Ialltoallw");
    if (!done || hop_ == 1) return done != 0;
    begin(1);
    return false;
  }

  std::string awaited() const override {
    return fmt::format("one of the ranks that exchange together: {} of them, hop {} of 2", group_.ranks.size(),
                       hop_ + 1);
  }

 private:
  void begin(std::size_t hop) {
    hop_ = hop;
    check_step(hops_[hop].start(request_), "MPI_Ialltoallw");
  }

  MessageSet messages_; // owns the datatypes
  Partners group_;
  std::unique_ptr<std::byte[]> between_; ///< what this rank forwards
  std::vector<Hop> hops_;
  std::size_t hop_ = 0; ///< the one that is under way
  MPI_Request request_ = MPI_REQUEST_NULL;
};

} // namespace

std::unique_ptr<Plan> make_two_hop(const BackendContext& context, MessageSet messages) {
  return std::make_unique<TwoHop>(context, std::move(messages));
}

} // namespace kontor::comm::mpi
