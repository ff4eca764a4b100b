// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/collectives/collective.hpp>
#include <kontor/comm/counts.hpp>
#include <kontor/comm/gather.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

/// Collective operations whose ranks tell each other how many elements they send.
///
/// Each operation gives a Received, or fills `into` again: `all = allgatherv_with_counts(comm, in, std::move(all))`.
/// What is received lies in its memory space, or in that of `in`. Errors as in gather.hpp; counts that are wrong on one
/// rank are its CallError.
namespace kontor::comm {

namespace detail {

/// The two operations of a call that brings its counts.
struct WithCounts {
  const Kind& numbers;           ///< of the counts
  const Kind& data;              ///< the same of so many elements
  int root = 0;                  ///< where there is one
  std::optional<Counts> given{}; ///< nothing: each rank's is the size of its View

  /// Collective. Tells the others this rank's counts, and gives those of what it receives.
  Counts learn(const Communicator&, std::size_t size, const std::string& label) const;
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
  detail::call<false>(on, call.of_data(counts), in, into.data);
  return std::move(into);
}

} // namespace detail

/// Collective. At the root: the elements of all ranks' Views, of any sizes; on other ranks nothing. MPI_Gather of the
/// counts, then MPI_Gatherv.
template <SentView In, ReceivedView Out = ReceivedOf<In>>
[[nodiscard]] Received<Out> gatherv_with_counts(On<In, Out> on, const In& in, int root, Received<Out> into = {}) {
  return detail::run_with_counts<In, Out>(on, {detail::Kind::gather, detail::Kind::gatherv, root}, in, into);
}
/// Collective. The elements of all ranks' Views, of any sizes. MPI_Allgather of the counts, then MPI_Allgatherv.
template <SentView In, ReceivedView Out = ReceivedOf<In>>
[[nodiscard]] Received<Out> allgatherv_with_counts(On<In, Out> on, const In& in, Received<Out> into = {}) {
  return detail::run_with_counts<In, Out>(on, {detail::Kind::allgather, detail::Kind::allgatherv}, in, into);
}
/// Collective. Rank r gets counts[r] elements of the root's `in`; neither is looked at on other ranks. The Received has
/// one part. MPI_Scatter of the counts, then MPI_Scatterv.
template <SentView In, ReceivedView Out = ReceivedOf<In>>
[[nodiscard]] Received<Out> scatterv_with_counts(On<In, Out> on, const In& in, const Counts& counts, int root,
                                                 Received<Out> into = {}) {
  return detail::run_with_counts<In, Out>(on, {detail::Kind::scatter, detail::Kind::scatterv, root, counts}, in, into);
}
/// Collective. This rank sends send_counts[r] elements to rank r, and gets what comes from all ranks. MPI_Alltoall of
/// the counts, then MPI_Alltoallv. alltoall_grid.hpp has the same for many ranks.
template <SentView In, ReceivedView Out = ReceivedOf<In>>
[[nodiscard]] Received<Out> alltoallv_with_counts(On<In, Out> on, const In& in, const Counts& send_counts,
                                                  Received<Out> into = {}) {
  return detail::run_with_counts<In, Out>(on, {detail::Kind::alltoall, detail::Kind::alltoallv, 0, send_counts}, in,
                                          into);
}
} // namespace kontor::comm
