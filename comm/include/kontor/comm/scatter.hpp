// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/calls/collective.hpp>
#include <kontor/comm/counts.hpp>

/// The root's View in parts, one for each rank in the order of ranks. Views, orders and errors as in
/// gather.hpp.
namespace kontor::comm {
namespace detail {

struct Scatter {
  static constexpr Traits traits{"scatter", "iscatter", Flow::from_root};
  int root;
  void operator()(const Call&) const;
};

struct Scatterv {
  static constexpr Traits traits{"scatterv", "iscatterv", Flow::from_root};
  const Counts& counts;
  int root;
  void operator()(const Call&) const;
};

} // namespace detail

/// Collective. Every rank's `out` becomes its part of the root's `in`, of equal sizes; the `in` of other
/// ranks is not looked at and may be empty. MPI_Scatter.
template <SentView In, ReceivedView Out>
void scatter(On<In, Out> on, const In& in, const Out& out, int root) {
  detail::run(on, detail::Scatter{root}, in, out);
}

/// Collective. In place: the root gives the whole View and keeps its own part in it; the others get their
/// part. MPI_Scatter, at the root with MPI_IN_PLACE.
template <ReceivedView View>
void scatter(On<View> on, const View& view, int root) {
  detail::run(on, detail::Scatter{root}, view);
}

/// Collective, non-blocking. wait() returns `in` and `out`. MPI_Iscatter.
template <SentView In, ReceivedView Out>
Request<In, Out> iscatter(On<In, Out> on, const In& in, const Out& out, int root) {
  return detail::start(on, detail::Scatter{root}, in, out);
}

/// Collective, non-blocking. In place. MPI_Iscatter, at the root with MPI_IN_PLACE.
template <ReceivedView View>
Request<View> iscatter(On<View> on, const View& view, int root) {
  return detail::start(on, detail::Scatter{root}, view);
}

/// Collective. Like scatter(), but rank r gets counts[r] elements; they need be right at the root only.
/// MPI_Scatterv.
template <SentView In, ReceivedView Out>
void scatterv(On<In, Out> on, const In& in, const Counts& counts, const Out& out, int root) {
  detail::run(on, detail::Scatterv{counts, root}, in, out);
}

/// Collective. In place, as with scatter(). MPI_Scatterv, at the root with MPI_IN_PLACE.
template <ReceivedView View>
void scatterv(On<View> on, const View& view, const Counts& counts, int root) {
  detail::run(on, detail::Scatterv{counts, root}, view);
}

/// Collective, non-blocking. wait() returns `in` and `out`. MPI_Iscatterv.
template <SentView In, ReceivedView Out>
Request<In, Out> iscatterv(On<In, Out> on, const In& in, const Counts& counts, const Out& out, int root) {
  return detail::start(on, detail::Scatterv{counts, root}, in, out);
}

/// Collective, non-blocking. In place. MPI_Iscatterv, at the root with MPI_IN_PLACE.
template <ReceivedView View>
Request<View> iscatterv(On<View> on, const View& view, const Counts& counts, int root) {
  return detail::start(on, detail::Scatterv{counts, root}, view);
}

} // namespace kontor::comm
