// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Pattern `alltoall`: one MPI_Ialltoallv, or MPI_Ialltoallw, among the ranks that exchange with each other. Where these
// fall into groups in which everybody exchanges with everybody, as in the rows of a process grid, each group has a
// communicator of its own; else it is that of the plan.
#include "backend/mpi/mpi_backend.hpp"

#include <kontor/comm/error.hpp>
#include <kontor/comm/mpi_check.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>

namespace kontor::comm::mpi {
namespace {

/// Which ranks of a communicator call together, in ascending order.
struct Partners {
  MPI_Comm comm = MPI_COMM_NULL;
  std::vector<int> ranks;

  std::size_t number_of(int rank) const {
    return static_cast<std::size_t>(std::ranges::lower_bound(ranks, rank) - ranks.begin());
  }
};

/// Collective. Splits off the rank's peers and itself if they are the same for all of these; else all ranks.
Partners group_of(MPI_Comm comm, const MessageSet& messages) {
  int rank = 0, size = 1;
  check(MPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
  check(MPI_Comm_size(comm, &size), "MPI_Comm_size");
  Partners group{.ranks = {rank}};
  for (const auto* list : {&messages.sends, &messages.receives})
    for (const auto& message : *list) group.ranks.push_back(message.peer);
  std::ranges::sort(group.ranks);
  group.ranks.erase(std::unique(group.ranks.begin(), group.ranks.end()), group.ranks.end());
  check(MPI_Comm_split(comm, group.ranks.front(), rank, &group.comm), "MPI_Comm_split");
  std::vector<int> known = group.ranks;
  int parts = 0;
  check(MPI_Comm_size(group.comm, &parts), "MPI_Comm_size");
  known.resize(static_cast<std::size_t>(parts), -1);
  auto first = known;
  check(MPI_Bcast(first.data(), parts, MPI_INT, 0, group.comm), "MPI_Bcast");
  int complete = first == known && group.ranks.size() == known.size();
  check(MPI_Allreduce(MPI_IN_PLACE, &complete, 1, MPI_INT, MPI_MIN, comm), "MPI_Allreduce");
  if (!complete) {
    check(MPI_Comm_free(&group.comm), "MPI_Comm_free");
    // Not a duplicate: of one with a process grid, Open MPI 4.1 reads types of MPI_Ialltoallw by numbers of neighbours.
    check(MPI_Comm_split(comm, 0, rank, &group.comm), "MPI_Comm_split");
    group.ranks.resize(static_cast<std::size_t>(size));
    std::iota(group.ranks.begin(), group.ranks.end(), 0);
  }
  check(MPI_Comm_set_errhandler(group.comm, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  return group;
}

/// What goes to, or comes from, each rank of a group.
struct Side {
  std::vector<int> counts, places; ///< places in bytes, from `base` on
  std::vector<MPI_Datatype> types;
  std::vector<Datatype> made; ///< those of several messages
  char* base = nullptr;       ///< MPI_BOTTOM: types have addresses
  bool bytes = true;          ///< each rank's is one piece near the base
};

Side side_of(const Partners& group, const std::vector<Message>& messages) {
  Side side;
  const auto size = group.ranks.size();
  side.counts.assign(size, 0);
  side.places.assign(size, 0);
  side.types.assign(size, MPI_BYTE);
  // Without empty messages: where both sides began at the same address, Open MPI would take the call for one in place.
  for (const auto& m : messages) {
    if (m.count == 0) continue;
    side.bytes = side.bytes && !m.made && side.counts[group.number_of(m.peer)]++ == 0;
    if (!side.base || std::less<>()(static_cast<char*>(m.data), side.base)) side.base = static_cast<char*>(m.data);
  }
  for (const auto& m : messages) {
    if (m.count == 0) continue;
    int bytes = 0;
    check(MPI_Type_size(m.type, &bytes), "MPI_Type_size");
    const auto length = static_cast<std::int64_t>(bytes) * m.count;
    const auto place = static_cast<char*>(m.data) - side.base;
    side.bytes = side.bytes && std::max<std::int64_t>(length, place) <= std::numeric_limits<int>::max();
    if (!side.bytes) break;
    side.counts[group.number_of(m.peer)] = static_cast<int>(length);
    side.places[group.number_of(m.peer)] = static_cast<int>(place);
  }
  return side;
}

/// The same by addresses: of each rank one type, of all its messages in the order of their tags.
void by_addresses(Side& side, const Partners& group, const std::vector<Message>& messages) {
  side.base = static_cast<char*>(MPI_BOTTOM);
  std::ranges::fill(side.places, 0);
  std::ranges::fill(side.counts, 0);
  for (std::size_t number = 0; number < group.ranks.size(); ++number) {
    std::vector<int> counts;
    std::vector<MPI_Aint> places;
    std::vector<MPI_Datatype> types;
    for (const auto& m : messages) {
      if (m.peer != group.ranks[number]) continue;
      counts.push_back(m.count);
      check(MPI_Get_address(m.data, &places.emplace_back()), "MPI_Get_address");
      types.push_back(m.type);
    }
    if (counts.empty()) continue;
    side.made.push_back(structure(counts, places, types));
    side.made.back().commit();
    side.types[number] = side.made.back().get();
    side.counts[number] = 1;
  }
}

class Alltoall final : public MpiPlan {
 public:
  Alltoall(const BackendContext& context, MessageSet messages)
      : MpiPlan(context, messages.label), messages_(std::move(messages)), group_(group_of(context.comm, messages_)),
        sends_(side_of(group_, messages_.sends)), receives_(side_of(group_, messages_.receives)) {
    int bytes = sends_.bytes && receives_.bytes;
    check(MPI_Allreduce(MPI_IN_PLACE, &bytes, 1, MPI_INT, MPI_MIN, group_.comm), "MPI_Allreduce");
    bytes_ = bytes != 0;
    if (bytes_) return;
    by_addresses(sends_, group_, messages_.sends);
    by_addresses(receives_, group_, messages_.receives);
  }

  /// Collective, unless this rank ends alone.
  ~Alltoall() override {
    if (ends_alone()) return;
    check_or_terminate(MPI_Wait(&request_, MPI_STATUS_IGNORE), "MPI_Wait");
    check_or_terminate(MPI_Comm_free(&group_.comm), "MPI_Comm_free");
  }

  void start() override {
    const int code =
        bytes_ ? MPI_Ialltoallv(sends_.base, sends_.counts.data(), sends_.places.data(), MPI_BYTE, receives_.base,
                                receives_.counts.data(), receives_.places.data(), MPI_BYTE, group_.comm, &request_)
               : MPI_Ialltoallw(sends_.base, sends_.counts.data(), sends_.places.data(), sends_.types.data(),
                                receives_.base, receives_.counts.data(), receives_.places.data(),
                                receives_.types.data(), group_.comm, &request_);
    check_step(code, call());
  }

  void finish() override { check_step(MPI_Wait(&request_, MPI_STATUS_IGNORE), call()); }

  bool test() override {
    int done = 0;
    check_step(MPI_Test(&request_, &done, MPI_STATUS_IGNORE), call());
    return done != 0;
  }

  std::string awaited() const override {
    return fmt::format("one of the ranks that exchange together: {} of them", group_.ranks.size());
  }

 private:
  const char* call() const { return bytes_ ? "MPI_Ialltoallv" : "MPI_Ialltoallw"; } ///< for errors

  MessageSet messages_; // owns the datatypes
  Partners group_;
  Side sends_, receives_;
  bool bytes_ = false; ///< whether MPI_Ialltoallv does, on all ranks
  MPI_Request request_ = MPI_REQUEST_NULL;
};

} // namespace

std::unique_ptr<Plan> make_alltoall(const BackendContext& context, MessageSet messages) {
  return std::make_unique<Alltoall>(context, std::move(messages));
}

} // namespace kontor::comm::mpi
