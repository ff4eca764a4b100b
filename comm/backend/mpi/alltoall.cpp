// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Pattern `alltoall`: one MPI_Ialltoallv, or MPI_Ialltoallw, among the ranks that exchange with each other. Where these
// fall into groups in which everybody exchanges with everybody, as in the rows of a process grid, each group has a
// communicator of its own; else it is that of the plan.
#include "backend/mpi/partners.hpp"

#include <kontor/comm/error.hpp>
#include <kontor/comm/mpi_check.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>

namespace kontor::comm::mpi {
namespace {

/// What goes to, or comes from, each rank of a group, if it is one piece near a common base.
struct Side {
  std::vector<int> counts, places; ///< in bytes, places from `base` on
  char* base = nullptr;
  bool bytes = true; ///< it is
};

Side side_of(const Partners& group, const std::vector<Message>& messages) {
  Side side;
  const auto size = group.ranks.size();
  side.counts.assign(size, 0);
  side.places.assign(size, 0);
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

/// The same by types that have addresses, of each rank all its messages in the order of their tags.
Bundles bundles_of(const Partners& group, const std::vector<Message>& messages) {
  std::vector<BundlePiece> pieces;
  for (const auto& m : messages) pieces.push_back({group.number_of(m.peer), m.data, m.count, m.type});
  return {group.ranks.size(), pieces};
}

class Alltoall final : public MpiPlan {
 public:
  Alltoall(const BackendContext& context, MessageSet messages)
      : MpiPlan(context, messages.label), messages_(std::move(messages)), group_(partners_of(context.comm, messages_)),
        sends_(side_of(group_, messages_.sends)), receives_(side_of(group_, messages_.receives)) {
    int bytes = sends_.bytes && receives_.bytes;
    check(MPI_Allreduce(MPI_IN_PLACE, &bytes, 1, MPI_INT, MPI_MIN, group_.comm), "MPI_Allreduce");
    if (bytes) return;
    out_ = bundles_of(group_, messages_.sends);
    in_ = bundles_of(group_, messages_.receives);
  }

  /// Collective, unless this rank ends alone.
  ~Alltoall() override {
    if (ends_alone()) return;
    check_or_terminate(MPI_Wait(&request_, MPI_STATUS_IGNORE), "MPI_Wait");
    check_or_terminate(MPI_Comm_free(&group_.comm), "MPI_Comm_free");
  }

  void start() override {
    const int code =
        out_ ? MPI_Ialltoallw(MPI_BOTTOM, out_->counts.data(), out_->places.data(), out_->types.data(), MPI_BOTTOM,
                              in_->counts.data(), in_->places.data(), in_->types.data(), group_.comm, &request_)
             : MPI_Ialltoallv(sends_.base, sends_.counts.data(), sends_.places.data(), MPI_BYTE, receives_.base,
                              receives_.counts.data(), receives_.places.data(), MPI_BYTE, group_.comm, &request_);
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
  const char* call() const { return out_ ? "MPI_Ialltoallw" : "MPI_Ialltoallv"; } ///< for errors

  MessageSet messages_; // owns the datatypes
  Partners group_;
  Side sends_, receives_;
  std::optional<Bundles> out_, in_; ///< where MPI_Ialltoallv does not do, on some rank
  MPI_Request request_ = MPI_REQUEST_NULL;
};

} // namespace

std::unique_ptr<Plan> make_alltoall(const BackendContext& context, MessageSet messages) {
  return std::make_unique<Alltoall>(context, std::move(messages));
}

} // namespace kontor::comm::mpi
