// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/collectives/collective.hpp>

#include <type_traits>

/// Reductions: the elements of all ranks' Views combined, each with those at its place in the others; see On. Views are
/// of equal extents and layouts on all ranks, which check level `cross_rank` verifies. MPI reduces at most 2^31 - 1
/// elements.
///
/// The operation is a ReduceOp, or a functor without state that takes two elements, as (const T&, const T&), and
/// returns one; it must be associative and may not throw. A value that is a std::array or a Kokkos::Array is combined
/// element by element, unless the functor takes two arrays. Wrap it in commutative() to let MPI combine ranks in any
/// order; otherwise that of the ranks is kept. Elements of any transferable type take a functor, structs included. In
/// place there is one View, which is changed, or a value, whose result is returned.
///
/// Errors: CallError if MPI does not define the ReduceOp for the scalar type, or there are too many elements; from
/// check level `local` on also if the root is not a rank, the two Views differ in size or share memory, or elements of
/// the result do.
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

/// A reduction, blocking, or one that `begins`. `Root` is an int where there is one.
template <bool begins, class... Root>
struct ReductionCall {
  const detail::Kind& kind; ///< which one

  /// Collective.
  template <SentView In, ReceivedView Out, ReductionOf<In> Op>
  auto operator()(On<In, Out> on, const In& in, const Out& out, const Op& op, Root... root) const {
    return detail::call<begins>(on, detail::reduction<In>(kind, op, root...), in, out);
  }
  /// Collective. In place, or of a value. MPI_IN_PLACE.
  template <InPlace T, ReductionOf<T> Op>
  auto operator()(On<T> on, const T& values, const Op& op, Root... root) const {
    return detail::call<begins, detail::Element<T, Op>>(on, detail::reduction<T>(kind, op, root...), values);
  }
};

///@{
/// allreduce(comm, in, out, op): `out` becomes, on every rank, the combination of all ranks' `in`. MPI_Allreduce,
/// MPI_Iallreduce.
inline constexpr ReductionCall<false> allreduce{detail::Kind::allreduce};
inline constexpr ReductionCall<true> iallreduce{detail::Kind::allreduce};
///@}

///@{
/// reduce(comm, in, out, op, root): the root's `out` becomes the combination of all ranks' `in`; the `out` of other
/// ranks is ignored. In place the other ranks keep their own. MPI_Reduce, MPI_Ireduce.
inline constexpr ReductionCall<false, int> reduce{detail::Kind::reduce};
inline constexpr ReductionCall<true, int> ireduce{detail::Kind::reduce};
///@}

///@{
/// scan(comm, in, out, op): `out` becomes the combination of `in` on ranks 0 to this one. MPI_Scan, MPI_Iscan.
inline constexpr ReductionCall<false> scan{detail::Kind::scan};
inline constexpr ReductionCall<true> iscan{detail::Kind::scan};
///@}

///@{
/// exscan(comm, in, out, op): `out` becomes the combination of `in` on the ranks before this one. That of rank 0, which
/// has none before it, stays as it is; of a value it is T{}. MPI_Exscan, MPI_Iexscan.
inline constexpr ReductionCall<false> exscan{detail::Kind::exscan};
inline constexpr ReductionCall<true> iexscan{detail::Kind::exscan};
///@}

} // namespace kontor::comm
