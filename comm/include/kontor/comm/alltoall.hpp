// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/calls/collective.hpp>

/// A part from every rank for every rank: part s of rank r's `in` becomes part r of rank s's `out`. Views, orders and
/// errors as in gather.hpp.
namespace kontor::comm {
/// Collective. Parts of equal sizes. MPI_Alltoall.
template <SentView In, ReceivedView Out>
void alltoall(On<In, Out> on, const In& in, const Out& out) {
  detail::run(on, {.kind = detail::Kind::alltoall}, in, out);
}

/// Collective. In place. MPI_Alltoall with MPI_IN_PLACE.
template <ReceivedView View>
void alltoall(On<View> on, const View& view) {
  detail::run(on, {.kind = detail::Kind::alltoall}, view);
}

/// Collective, non-blocking. wait() returns `in` and `out`. MPI_Ialltoall.
template <SentView In, ReceivedView Out>
Request<In, Out> ialltoall(On<In, Out> on, const In& in, const Out& out) {
  return detail::start(on, {.kind = detail::Kind::alltoall}, in, out);
}

/// Collective, non-blocking. In place. MPI_Ialltoall with MPI_IN_PLACE.
template <ReceivedView View>
Request<View> ialltoall(On<View> on, const View& view) {
  return detail::start(on, {.kind = detail::Kind::alltoall}, view);
}

/// Collective. This rank sends send_counts[r] elements to rank r and gets receive_counts[r] from it. MPI_Alltoallv.
template <SentView In, ReceivedView Out>
void alltoallv(On<In, Out> on, const In& in, const Counts& send_counts, const Out& out, const Counts& receive_counts) {
  detail::run(on, {.kind = detail::Kind::alltoallv, .counts = &receive_counts, .send_counts = &send_counts}, in, out);
}

} // namespace kontor::comm
