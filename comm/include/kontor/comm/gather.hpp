// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/calls/collective.hpp>

#include <cstdint>
#include <type_traits>
#include <vector>

/// The Views of all ranks one after the other, in the order of ranks: at the root, on every rank, or from the root to
/// the ranks.
///
/// Views are of rank 0 to 8 and any layout; elements travel in the order in which they lie,
/// so a View of doubles (n) gathers into one of (n, ranks) that is LayoutLeft. What is received has room for exactly
/// what is sent. Views in host memory are ordered on the host: fence what writes them before; those in device memory on
/// an instance, as On says. Blocking ones return when `out` is valid; the others give a Request, whose wait() returns
/// the Views when it is. A contiguous View costs the MPI call alone, a strided one travels through a copy. Where ranks
/// give different numbers of elements (gatherv, allgatherv, scatterv) the call blocks, takes two Views, and makes the
/// arrays of `int` that MPI wants, where it needs them.
///
/// Errors: CallError from check level `local` on if the root is not a rank, a View has not the right number of
/// elements, or two Views, or elements of one that is written, share memory; Error with MPI's text if MPI reports one,
/// or if counts or places exceed the 2^31 - 1 that MPI's arrays can hold. Numbers of elements without counts have no
/// such limit.
namespace kontor::comm {
namespace detail {

/// One value of each rank, on the ranks that get them.
template <class T>
std::vector<T> gather_values(const Communicator& comm, const Collective& collective, T value) {
  using Held = std::conditional_t<std::is_same_v<T, bool>, char, T>; // a std::vector<bool> has no elements
  const bool gets = writes(accesses(comm, collective, 2)[1]);
  std::vector<Held> all(gets ? comm.size() : 0);
  const auto in = value_operand<T>(value);
  auto out = in.at(all.data());
  out.count = static_cast<std::int64_t>(all.size());
  collective.kind.perform({comm, collective, in, out});
  return std::vector<T>(all.begin(), all.end());
}

} // namespace detail

/// Collective. The root's `out` becomes the `in` of all ranks, of equal sizes; the `out` of other ranks is not looked
/// at and may be empty. MPI_Gather.
template <SentView In, ReceivedView Out>
void gather(On<In, Out> on, const In& in, const Out& out, int root) {
  detail::run(on, {.kind = detail::Kind::gather, .root = root}, in, out);
}

/// Collective. In place: the root gives the whole View, with its own part where it belongs; the others give their part.
/// MPI_Gather, at the root with MPI_IN_PLACE.
template <InPlaceView View>
void gather(On<View> on, const View& view, int root) {
  detail::run(on, {.kind = detail::Kind::gather, .root = root}, view);
}

/// Collective. At the root the values of all ranks; nothing on the other ranks. MPI_Gather.
template <PlainValue T>
std::vector<T> gather(const Communicator& comm, const T& value, int root) {
  return detail::gather_values(comm, {.kind = detail::Kind::gather, .root = root}, value);
}

/// Collective, non-blocking. wait() returns `in` and `out`. MPI_Igather.
template <SentView In, ReceivedView Out>
Request<In, Out> igather(On<In, Out> on, const In& in, const Out& out, int root) {
  return detail::start(on, {.kind = detail::Kind::gather, .root = root}, in, out);
}

/// Collective, non-blocking. In place. MPI_Igather, at the root with MPI_IN_PLACE.
template <InPlaceView View>
Request<View> igather(On<View> on, const View& view, int root) {
  return detail::start(on, {.kind = detail::Kind::gather, .root = root}, view);
}

/// Collective. Like gather(), but rank r gives counts[r] elements; they need be right at the root only. MPI_Gatherv.
template <SentView In, ReceivedView Out>
void gatherv(On<In, Out> on, const In& in, const Out& out, const Counts& counts, int root) {
  detail::run(on, {.kind = detail::Kind::gatherv, .root = root, .counts = &counts}, in, out);
}

/// Collective. Every rank's `out` becomes the `in` of all ranks, of equal sizes. MPI_Allgather.
template <SentView In, ReceivedView Out>
void allgather(On<In, Out> on, const In& in, const Out& out) {
  detail::run(on, {.kind = detail::Kind::allgather}, in, out);
}

/// Collective. In place: every rank gives the whole View, with its own part where it belongs. MPI_Allgather with
/// MPI_IN_PLACE.
template <InPlaceView View>
void allgather(On<View> on, const View& view) {
  detail::run(on, {.kind = detail::Kind::allgather}, view);
}

/// Collective. The values of all ranks. MPI_Allgather.
template <PlainValue T>
std::vector<T> allgather(const Communicator& comm, const T& value) {
  return detail::gather_values(comm, {.kind = detail::Kind::allgather}, value);
}

/// Collective, non-blocking. wait() returns `in` and `out`. MPI_Iallgather.
template <SentView In, ReceivedView Out>
Request<In, Out> iallgather(On<In, Out> on, const In& in, const Out& out) {
  return detail::start(on, {.kind = detail::Kind::allgather}, in, out);
}

/// Collective, non-blocking. In place. MPI_Iallgather with MPI_IN_PLACE.
template <InPlaceView View>
Request<View> iallgather(On<View> on, const View& view) {
  return detail::start(on, {.kind = detail::Kind::allgather}, view);
}

/// Collective. Like allgather(), but rank r gives counts[r] elements. MPI_Allgatherv.
template <SentView In, ReceivedView Out>
void allgatherv(On<In, Out> on, const In& in, const Out& out, const Counts& counts) {
  detail::run(on, {.kind = detail::Kind::allgatherv, .counts = &counts}, in, out);
}

/// Collective. Every rank's `out` becomes its part of the root's `in`, of equal sizes; the `in` of other ranks is not
/// looked at and may be empty. MPI_Scatter.
template <SentView In, ReceivedView Out>
void scatter(On<In, Out> on, const In& in, const Out& out, int root) {
  detail::run(on, {.kind = detail::Kind::scatter, .root = root}, in, out);
}

/// Collective. In place: the root gives the whole View and keeps its own part in it; the others get their part.
/// MPI_Scatter, at the root with MPI_IN_PLACE.
template <ReceivedView View>
void scatter(On<View> on, const View& view, int root) {
  detail::run(on, {.kind = detail::Kind::scatter, .root = root}, view);
}

/// Collective, non-blocking. wait() returns `in` and `out`. MPI_Iscatter.
template <SentView In, ReceivedView Out>
Request<In, Out> iscatter(On<In, Out> on, const In& in, const Out& out, int root) {
  return detail::start(on, {.kind = detail::Kind::scatter, .root = root}, in, out);
}

/// Collective, non-blocking. In place. MPI_Iscatter, at the root with MPI_IN_PLACE.
template <ReceivedView View>
Request<View> iscatter(On<View> on, const View& view, int root) {
  return detail::start(on, {.kind = detail::Kind::scatter, .root = root}, view);
}

/// Collective. Like scatter(), but rank r gets counts[r] elements; they need be right at the root only. MPI_Scatterv.
template <SentView In, ReceivedView Out>
void scatterv(On<In, Out> on, const In& in, const Counts& counts, const Out& out, int root) {
  detail::run(on, {.kind = detail::Kind::scatterv, .root = root, .counts = &counts}, in, out);
}

} // namespace kontor::comm
