// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/counts.hpp>
#include <kontor/comm/reductions.hpp>

/// All ranks' Views combined element by element, and each rank gets its part of the result: the elements of
/// rank 0, then those of rank 1 and so on. Operations, Views, orders and errors as in reductions.hpp. A part
/// has at most 2^31 - 1 elements.
namespace kontor::comm {
namespace detail {

struct ReduceScatter {
  static constexpr Traits traits{"reduce_scatter", "ireduce_scatter", Flow::among_all, "_block"};
  Reducer op;
  void operator()(const Call&) const;
};

struct ReduceScatterv {
  static constexpr Traits traits{"reduce_scatter", "ireduce_scatter", Flow::among_all};
  Reducer op;
  const Counts& counts;
  void operator()(const Call&) const;
};

} // namespace detail

/// Collective. Parts of equal sizes: `in` has those of all ranks, and `out` becomes this rank's of the
/// combination. MPI_Reduce_scatter_block.
template <SentView In, InPlaceView Out, ReductionOf<In> Op>
void reduce_scatter(On<In, Out> on, const In& in, const Out& out, const Op& op) {
  detail::run(on, detail::ReduceScatter{detail::reducer_of<In>(op)}, in, out);
}

/// Collective. In place: the View has the parts of all ranks, and its first elements become this rank's of
/// the combination; the others mean nothing then. MPI_Reduce_scatter_block with MPI_IN_PLACE.
template <InPlaceView View, ReductionOf<View> Op>
void reduce_scatter(On<View> on, const View& view, const Op& op) {
  detail::run(on, detail::ReduceScatter{detail::reducer_of<View>(op)}, view);
}

/// Collective, non-blocking. wait() returns `in` and `out`. MPI_Ireduce_scatter_block.
template <SentView In, InPlaceView Out, ReductionOf<In> Op>
Request<In, Out> ireduce_scatter(On<In, Out> on, const In& in, const Out& out, const Op& op) {
  return detail::start(on, detail::ReduceScatter{detail::reducer_of<In>(op)}, in, out);
}

/// Collective, non-blocking. In place. MPI_Ireduce_scatter_block with MPI_IN_PLACE.
template <InPlaceView View, ReductionOf<View> Op>
Request<View> ireduce_scatter(On<View> on, const View& view, const Op& op) {
  return detail::start(on, detail::ReduceScatter{detail::reducer_of<View>(op)}, view);
}

/// Collective. Rank r gets counts[r] elements; the counts are equal on all ranks. MPI_Reduce_scatter.
template <SentView In, ReceivedView Out, ReductionOf<In> Op>
void reduce_scatter(On<In, Out> on, const In& in, const Out& out, const Counts& counts, const Op& op) {
  detail::run(on, detail::ReduceScatterv{detail::reducer_of<In>(op), counts}, in, out);
}

/// Collective. In place, as with parts of equal sizes. MPI_Reduce_scatter with MPI_IN_PLACE.
template <InPlaceView View, ReductionOf<View> Op>
void reduce_scatter(On<View> on, const View& view, const Counts& counts, const Op& op) {
  detail::run(on, detail::ReduceScatterv{detail::reducer_of<View>(op), counts}, view);
}

/// Collective, non-blocking. wait() returns `in` and `out`. MPI_Ireduce_scatter.
template <SentView In, ReceivedView Out, ReductionOf<In> Op>
Request<In, Out> ireduce_scatter(On<In, Out> on, const In& in, const Out& out, const Counts& counts,
                                 const Op& op) {
  return detail::start(on, detail::ReduceScatterv{detail::reducer_of<In>(op), counts}, in, out);
}

/// Collective, non-blocking. In place. MPI_Ireduce_scatter with MPI_IN_PLACE.
template <InPlaceView View, ReductionOf<View> Op>
Request<View> ireduce_scatter(On<View> on, const View& view, const Counts& counts, const Op& op) {
  return detail::start(on, detail::ReduceScatterv{detail::reducer_of<View>(op), counts}, view);
}

} // namespace kontor::comm
