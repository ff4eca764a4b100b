// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/calls/collective.hpp>

#include <type_traits>

/// Reductions: the elements of all ranks' Views combined, each with those at its place in the others.
///
/// The operation is a ReduceOp, or a functor without state that takes two elements, as (const T&, const T&), and
/// returns one; it must be associative and may not throw. A value that is a std::array or a Kokkos::Array is combined
/// element by element, unless the functor takes two arrays. Wrap it in commutative() to let MPI combine ranks in any
/// order; otherwise that of the ranks is kept. Elements of any transferable type take a functor, structs included.
/// Views are of rank 0 to 8 and any layout, of equal extents and
/// layouts on all ranks (check level `cross_rank` verifies it). Those in host memory are ordered on the host: fence
/// what writes them before; those in device memory on an instance, as On says, and reduced on the host, through pinned
/// memory, unless the backend has the ReduceOp by itself.
///
/// In place there is one View, which is changed, or a value: its result is returned. The blocking calls return when the
/// result is valid; the others give a Request, whose wait() returns the Views, or the result of the value, when it is.
/// A contiguous View costs the MPI call alone, a strided one travels through a copy. MPI reduces at most 2^31 - 1
/// elements.
///
/// Errors: CallError if MPI does not define the ReduceOp for the scalar type, or there are more elements; from check
/// level `local` on also if the root is not a rank, the two Views differ in size or share memory, or elements of the
/// result do. Error with MPI's text if MPI reports one.
namespace kontor::comm {
namespace detail {

/// What the operation combines: the elements of a View or of an array, or the value as a whole.
template <class T, class Op>
struct Combined {
  static constexpr bool whole = !std::is_same_v<Op, ReduceOp> && Combines<T, Op>;
  using type = std::conditional_t<whole, T, typename Parts<T>::type>;
};
template <ViewType View, class Op>
struct Combined<View, Op> {
  using type = typename View::non_const_value_type;
};

template <class T, class Op>
using Element = typename Combined<T, Op>::type;

template <class T, class Op>
Collective reduction(const Kind& kind, const Op& op, int root = 0) {
  return {.kind = kind, .root = root, .op = reducer<Element<T, Op>>(op)};
}

} // namespace detail

/// A ReduceOp, or a functor without state that combines two elements of a View, or two values, to one.
template <class Op, class T>
concept ReductionOf = detail::check_op<Op, detail::Element<T, Op>>();

/// Collective. `out` becomes, on every rank, the combination of all ranks' `in`. MPI_Allreduce.
template <SentView In, ReceivedView Out, ReductionOf<In> Op>
void allreduce(On<In, Out> on, const In& in, const Out& out, const Op& op) {
  detail::run(on, detail::reduction<In>(detail::Kind::allreduce, op), in, out);
}

/// Collective. In place. MPI_Allreduce with MPI_IN_PLACE.
template <InPlace T, ReductionOf<T> Op>
InPlaceResult<T> allreduce(On<T> on, const T& values, const Op& op) {
  return detail::run<detail::Element<T, Op>>(on, detail::reduction<T>(detail::Kind::allreduce, op), values);
}

/// Collective, non-blocking. wait() returns `in` and `out`. MPI_Iallreduce.
template <SentView In, ReceivedView Out, ReductionOf<In> Op>
Request<In, Out> iallreduce(On<In, Out> on, const In& in, const Out& out, const Op& op) {
  return detail::start(on, detail::reduction<In>(detail::Kind::allreduce, op), in, out);
}

/// Collective, non-blocking. In place. MPI_Iallreduce with MPI_IN_PLACE.
template <InPlace T, ReductionOf<T> Op>
InPlaceRequest<T> iallreduce(On<T> on, const T& values, const Op& op) {
  return detail::start<detail::Element<T, Op>>(on, detail::reduction<T>(detail::Kind::allreduce, op), values);
}

/// Collective. The root's `out` becomes the combination of all ranks' `in`; those of other ranks are not looked at and
/// may be empty. MPI_Reduce.
template <SentView In, ReceivedView Out, ReductionOf<In> Op>
void reduce(On<In, Out> on, const In& in, const Out& out, const Op& op, int root) {
  detail::run(on, detail::reduction<In>(detail::Kind::reduce, op, root), in, out);
}

/// Collective. In place: the root gets the combination of all ranks' Views or values, the others keep their own.
/// MPI_Reduce, at the root with MPI_IN_PLACE.
template <InPlace T, ReductionOf<T> Op>
InPlaceResult<T> reduce(On<T> on, const T& values, const Op& op, int root) {
  return detail::run<detail::Element<T, Op>>(on, detail::reduction<T>(detail::Kind::reduce, op, root), values);
}

/// Collective, non-blocking. wait() returns `in` and `out`. MPI_Ireduce.
template <SentView In, ReceivedView Out, ReductionOf<In> Op>
Request<In, Out> ireduce(On<In, Out> on, const In& in, const Out& out, const Op& op, int root) {
  return detail::start(on, detail::reduction<In>(detail::Kind::reduce, op, root), in, out);
}

/// Collective, non-blocking. In place. MPI_Ireduce, at the root with MPI_IN_PLACE.
template <InPlace T, ReductionOf<T> Op>
InPlaceRequest<T> ireduce(On<T> on, const T& values, const Op& op, int root) {
  return detail::start<detail::Element<T, Op>>(on, detail::reduction<T>(detail::Kind::reduce, op, root), values);
}

/// Collective. `out` becomes the combination of `in` on ranks 0 to this one. MPI_Scan.
template <SentView In, ReceivedView Out, ReductionOf<In> Op>
void scan(On<In, Out> on, const In& in, const Out& out, const Op& op) {
  detail::run(on, detail::reduction<In>(detail::Kind::scan, op), in, out);
}

/// Collective. In place. MPI_Scan with MPI_IN_PLACE.
template <InPlace T, ReductionOf<T> Op>
InPlaceResult<T> scan(On<T> on, const T& values, const Op& op) {
  return detail::run<detail::Element<T, Op>>(on, detail::reduction<T>(detail::Kind::scan, op), values);
}

/// Collective, non-blocking. wait() returns `in` and `out`. MPI_Iscan.
template <SentView In, ReceivedView Out, ReductionOf<In> Op>
Request<In, Out> iscan(On<In, Out> on, const In& in, const Out& out, const Op& op) {
  return detail::start(on, detail::reduction<In>(detail::Kind::scan, op), in, out);
}

/// Collective, non-blocking. In place. MPI_Iscan with MPI_IN_PLACE.
template <InPlace T, ReductionOf<T> Op>
InPlaceRequest<T> iscan(On<T> on, const T& values, const Op& op) {
  return detail::start<detail::Element<T, Op>>(on, detail::reduction<T>(detail::Kind::scan, op), values);
}

/// Collective. `out` becomes the combination of `in` on the ranks before this one. That of rank 0, which has none
/// before it, stays as it is. MPI_Exscan.
template <SentView In, ReceivedView Out, ReductionOf<In> Op>
void exscan(On<In, Out> on, const In& in, const Out& out, const Op& op) {
  detail::run(on, detail::reduction<In>(detail::Kind::exscan, op), in, out);
}

/// Collective. In place; of a value T{} on rank 0. MPI_Exscan with MPI_IN_PLACE.
template <InPlace T, ReductionOf<T> Op>
InPlaceResult<T> exscan(On<T> on, const T& values, const Op& op) {
  return detail::run<detail::Element<T, Op>>(on, detail::reduction<T>(detail::Kind::exscan, op), values);
}

/// Collective, non-blocking. wait() returns `in` and `out`. MPI_Iexscan.
template <SentView In, ReceivedView Out, ReductionOf<In> Op>
Request<In, Out> iexscan(On<In, Out> on, const In& in, const Out& out, const Op& op) {
  return detail::start(on, detail::reduction<In>(detail::Kind::exscan, op), in, out);
}

/// Collective, non-blocking. In place; of a value T{} on rank 0. MPI_Iexscan with MPI_IN_PLACE.
template <InPlace T, ReductionOf<T> Op>
InPlaceRequest<T> iexscan(On<T> on, const T& values, const Op& op) {
  return detail::start<detail::Element<T, Op>>(on, detail::reduction<T>(detail::Kind::exscan, op), values);
}

} // namespace kontor::comm
