// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/alltoall.hpp>
#include <kontor/comm/calls/collective.hpp>
#include <kontor/comm/calls/two_phases.hpp>
#include <kontor/comm/counts.hpp>
#include <kontor/comm/gather.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

/// Collective operations whose ranks tell each other how much they send. Two suffixes mean that what a call needs to
/// know travels with it: `_with_counts`, the number of elements each rank sends, and `_with_extents`
/// (with_extents.hpp), the extents of a View of any rank.
///
/// Each operation gives a Received, and has a form that begins with `i` and does not block, whose wait() gives it.
/// `into` is a Received that is filled again, without an allocation where its memory is large enough: `all =
/// allgatherv_with_counts(comm, in, std::move(all))`. What is received lies in its memory space, or in that of `in`.
/// Orders and errors as in gather.hpp; counts that are wrong on one rank are its CallError.
namespace kontor::comm {

/// What a non-blocking form gives.
template <class In, class Out>
using RequestWithCounts =
    TwoPhases<Received<Out>, Request<Kokkos::View<std::int64_t*, Kokkos::HostSpace>>, Request<In, Out>>;

namespace detail {

/// A number for each rank where a rank has those of all, else one.
using Numbers = Kokkos::View<std::int64_t*, Kokkos::HostSpace>;

/// The two operations of a call that brings its counts.
struct WithCounts {
  const Kind& numbers;           ///< of the counts
  const Kind& data;              ///< the same of so many elements
  int root = 0;                  ///< where there is one
  std::optional<Counts> given{}; ///< nothing: each rank's is the size of its View

  /// What is wrong with the counts that this rank gives for the `size` elements of a View.
  std::optional<std::string> problem(const Communicator&, std::size_t size, const std::string& label) const;
  /// What this rank tells the others of its `size` elements.
  Numbers to_tell(const Communicator&, std::size_t size) const;
  /// Collective. Tells them, and gives what learned() does.
  Counts learn(const Communicator&, std::size_t size, const std::string& label) const;
  /// The counts of what this rank receives, from the numbers that have come.
  Counts learned(const Communicator&, const Numbers&) const;
  Collective of_numbers(const std::optional<std::string>& problem) const {
    return {.kind = numbers, .root = root, .problem = &problem};
  }
  /// `received` is what has been learned.
  Collective of_data(const Counts& received) const {
    const auto* const counts = data.flow == Flow::from_root ? &*given : &received;
    return {.kind = data, .root = root, .counts = counts, .send_counts = given ? &*given : nullptr};
  }
};

template <class In, class Out>
Received<Out> run_with_counts(On<In, Out> on, const WithCounts& call, const In& in, Received<Out>& into) {
  const auto counts = call.learn(on.comm, in.size(), in.label());
  into.resize(in.label(), counts);
  run(on, call.of_data(counts), in, into.data);
  return std::move(into);
}

template <class In, class Out>
RequestWithCounts<In, Out> start_with_counts(On<In, Out> on, WithCounts call, const In& in, Received<Out>& into) {
  struct State {
    LaterOn<typename SpaceOf<In, Out>::type> on;
    WithCounts call;
    In in;
    Received<Out> received;
  };
  const auto numbers = call.to_tell(on.comm, in.size());
  const std::shared_ptr<State> state(new State{decltype(State::on)(on), std::move(call), in, std::move(into)});
  const auto problem = state->call.problem(on.comm, in.size(), in.label());
  return {start(On<>(on.comm), state->call.of_numbers(problem), numbers),
          [state](const Numbers& found) {
            const auto later = state->on.get();
            const auto counts = state->call.learned(later.comm, found);
            state->received.resize(state->in.label(), counts);
            return start(later, state->call.of_data(counts), state->in, state->received.data);
          },
          [state](const auto&) { return std::move(state->received); }};
}

} // namespace detail

/// Collective. At the root: the elements of all ranks' Views, of any sizes; on other ranks
/// nothing. MPI_Gather of the counts, then MPI_Gatherv.
template <SentView In, ReceivedView Out = ReceivedOf<In>>
[[nodiscard]] Received<Out> gatherv_with_counts(On<In, Out> on, const In& in, int root, Received<Out> into = {}) {
  return detail::run_with_counts<In, Out>(on, {detail::Kind::gather, detail::Kind::gatherv, root}, in, into);
}
/// Collective, non-blocking, in two phases.
template <SentView In, ReceivedView Out = ReceivedOf<In>>
RequestWithCounts<In, Out> igatherv_with_counts(On<In, Out> on, const In& in, int root, Received<Out> into = {}) {
  return detail::start_with_counts<In, Out>(on, {detail::Kind::gather, detail::Kind::gatherv, root}, in, into);
}

/// Collective. The elements of all ranks' Views, of any sizes. MPI_Allgather of the counts, then MPI_Allgatherv.
template <SentView In, ReceivedView Out = ReceivedOf<In>>
[[nodiscard]] Received<Out> allgatherv_with_counts(On<In, Out> on, const In& in, Received<Out> into = {}) {
  return detail::run_with_counts<In, Out>(on, {detail::Kind::allgather, detail::Kind::allgatherv}, in, into);
}
/// Collective, non-blocking, in two phases.
template <SentView In, ReceivedView Out = ReceivedOf<In>>
RequestWithCounts<In, Out> iallgatherv_with_counts(On<In, Out> on, const In& in, Received<Out> into = {}) {
  return detail::start_with_counts<In, Out>(on, {detail::Kind::allgather, detail::Kind::allgatherv}, in, into);
}

/// Collective. Rank r gets counts[r] elements of the root's `in`; neither is looked at on other ranks. The Received has
/// one part. MPI_Scatter of the counts, then MPI_Scatterv.
template <SentView In, ReceivedView Out = ReceivedOf<In>>
[[nodiscard]] Received<Out> scatterv_with_counts(On<In, Out> on, const In& in, const Counts& counts, int root,
                                                 Received<Out> into = {}) {
  return detail::run_with_counts<In, Out>(on, {detail::Kind::scatter, detail::Kind::scatterv, root, counts}, in, into);
}
/// Collective, non-blocking, in two phases.
template <SentView In, ReceivedView Out = ReceivedOf<In>>
RequestWithCounts<In, Out> iscatterv_with_counts(On<In, Out> on, const In& in, const Counts& counts, int root,
                                                 Received<Out> into = {}) {
  return detail::start_with_counts<In, Out>(on, {detail::Kind::scatter, detail::Kind::scatterv, root, counts}, in,
                                            into);
}

/// Collective. This rank sends send_counts[r] elements to rank r, and gets what comes from all ranks. MPI_Alltoall of
/// the counts, then MPI_Alltoallv. alltoall_grid.hpp has the same for many ranks.
template <SentView In, ReceivedView Out = ReceivedOf<In>>
[[nodiscard]] Received<Out> alltoallv_with_counts(On<In, Out> on, const In& in, const Counts& send_counts,
                                                  Received<Out> into = {}) {
  return detail::run_with_counts<In, Out>(on, {detail::Kind::alltoall, detail::Kind::alltoallv, 0, send_counts}, in,
                                          into);
}
/// Collective, non-blocking, in two phases.
template <SentView In, ReceivedView Out = ReceivedOf<In>>
RequestWithCounts<In, Out> ialltoallv_with_counts(On<In, Out> on, const In& in, const Counts& send_counts,
                                                  Received<Out> into = {}) {
  return detail::start_with_counts<In, Out>(on, {detail::Kind::alltoall, detail::Kind::alltoallv, 0, send_counts}, in,
                                            into);
}

} // namespace kontor::comm
