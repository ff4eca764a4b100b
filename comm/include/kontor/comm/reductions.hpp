// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/calls/collective.hpp>
#include <kontor/comm/calls/value.hpp>
#include <kontor/comm/reduce_op.hpp>

#include <type_traits>

/// Reductions: the elements of all ranks' Views combined, each with those at its place in the others.
///
/// The operation is a ReduceOp, or a functor without state that takes two elements, as (const T&, const T&),
/// and returns one; it must be associative and may not throw. A value that is a std::array or a Kokkos::Array
/// is combined element by element, unless the functor takes two arrays. Wrap it in commutative() to let MPI
/// combine ranks in any order; otherwise that of the ranks is kept. Elements of any transferable type take a
/// functor, structs included. Views are of rank 0 to 8 and any layout, of equal extents and
/// layouts on all ranks (check level `cross_rank` verifies it). Those in host memory are ordered on the host:
/// fence what writes them before; those in device memory on an instance, as On says, and reduced on the host,
/// through pinned memory, unless the backend has the ReduceOp by itself.
///
/// The blocking ones return when the result is valid; the others give a Request, whose wait() returns the
/// Views when it is. A contiguous View costs the MPI call alone, a strided one travels through a copy. More
/// than 2^30 elements go in several calls, and non-blocking ones take at most 2^31 - 1.
///
/// Errors: CallError if MPI does not define the ReduceOp for the scalar type; from check level `local` on
/// also if the root is not a rank, the two Views differ in size or share memory, or elements of the result
/// do. Error with MPI's text if MPI reports one.
namespace kontor::comm {
namespace detail {

struct Allreduce {
  static constexpr Traits traits{"allreduce", "iallreduce", Flow::among_all};
  Reducer op;
  std::int64_t chunk = mpi::chunk_elements;
  void operator()(const Call&) const;
  bool queues(const StreamCollectives& backend, Scalar scalar, std::size_t, std::int64_t count) const {
    return !op.function && backend.reduces(scalar, op.named, count);
  }
};

struct Reduce {
  static constexpr Traits traits{"reduce", "ireduce", Flow::to_root};
  Reducer op;
  int root;
  std::int64_t chunk = mpi::chunk_elements;
  void operator()(const Call&) const;
  bool queues(const StreamCollectives& backend, Scalar scalar, std::size_t, std::int64_t count) const {
    return !op.function && backend.reduces(scalar, op.named, count);
  }
};

struct Scan {
  static constexpr Traits traits{"scan", "iscan", Flow::among_all};
  Reducer op;
  std::int64_t chunk = mpi::chunk_elements;
  void operator()(const Call&) const;
};

struct Exscan {
  static constexpr Traits traits{"exscan", "iexscan", Flow::to_higher};
  Reducer op;
  std::int64_t chunk = mpi::chunk_elements;
  void operator()(const Call&) const;
};

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
Reducer reducer_of(const Op& op) {
  return reducer<Element<T, Op>>(op);
}

} // namespace detail

/// A ReduceOp, or a functor without state that combines two elements of a View, or two values, to one.
template <class Op, class T>
concept ReductionOf = detail::check_op<Op, detail::Element<T, Op>>();

/// Collective. `out` becomes, on every rank, the combination of all ranks' `in`. MPI_Allreduce.
template <SentView In, ReceivedView Out, ReductionOf<In> Op>
void allreduce(On<In, Out> on, const In& in, const Out& out, const Op& op) {
  detail::run(on, detail::Allreduce{detail::reducer_of<In>(op)}, in, out);
}

/// Collective. In place. MPI_Allreduce with MPI_IN_PLACE.
template <InPlaceView View, ReductionOf<View> Op>
void allreduce(On<View> on, const View& view, const Op& op) {
  detail::run(on, detail::Allreduce{detail::reducer_of<View>(op)}, view);
}

/// Collective. The combination of all ranks' values. MPI_Allreduce with MPI_IN_PLACE.
template <PlainValue T, ReductionOf<T> Op>
T allreduce(const Communicator& comm, const T& value, const Op& op) {
  return detail::run_value<detail::Element<T, Op>>(comm, detail::Allreduce{detail::reducer_of<T>(op)}, value);
}

/// Collective, non-blocking. wait() returns `in` and `out`. MPI_Iallreduce.
template <SentView In, ReceivedView Out, ReductionOf<In> Op>
Request<In, Out> iallreduce(On<In, Out> on, const In& in, const Out& out, const Op& op) {
  return detail::start(on, detail::Allreduce{detail::reducer_of<In>(op)}, in, out);
}

/// Collective, non-blocking. In place. MPI_Iallreduce with MPI_IN_PLACE.
template <InPlaceView View, ReductionOf<View> Op>
Request<View> iallreduce(On<View> on, const View& view, const Op& op) {
  return detail::start(on, detail::Allreduce{detail::reducer_of<View>(op)}, view);
}

/// Collective, non-blocking. wait() returns the combination of all ranks' values. MPI_Iallreduce with
/// MPI_IN_PLACE.
template <PlainValue T, ReductionOf<T> Op>
Request<Value<T>> iallreduce(const Communicator& comm, const T& value, const Op& op) {
  return detail::start_value<detail::Element<T, Op>>(comm, detail::Allreduce{detail::reducer_of<T>(op)},
                                                     value);
}

/// Collective. The root's `out` becomes the combination of all ranks' `in`; those of other ranks are not
/// looked at and may be empty. MPI_Reduce.
template <SentView In, ReceivedView Out, ReductionOf<In> Op>
void reduce(On<In, Out> on, const In& in, const Out& out, const Op& op, int root) {
  detail::run(on, detail::Reduce{detail::reducer_of<In>(op), root}, in, out);
}

/// Collective. The root's View becomes the combination of all ranks' Views; those of other ranks are not
/// changed. MPI_Reduce, at the root with MPI_IN_PLACE.
template <InPlaceView View, ReductionOf<View> Op>
void reduce(On<View> on, const View& view, const Op& op, int root) {
  detail::run(on, detail::Reduce{detail::reducer_of<View>(op), root}, view);
}

/// Collective. At the root the combination of all ranks' values; on the other ranks their own. MPI_Reduce, at
/// the root with MPI_IN_PLACE.
template <PlainValue T, ReductionOf<T> Op>
T reduce(const Communicator& comm, const T& value, const Op& op, int root) {
  return detail::run_value<detail::Element<T, Op>>(comm, detail::Reduce{detail::reducer_of<T>(op), root},
                                                   value);
}

/// Collective, non-blocking. wait() returns `in` and `out`. MPI_Ireduce.
template <SentView In, ReceivedView Out, ReductionOf<In> Op>
Request<In, Out> ireduce(On<In, Out> on, const In& in, const Out& out, const Op& op, int root) {
  return detail::start(on, detail::Reduce{detail::reducer_of<In>(op), root}, in, out);
}

/// Collective, non-blocking. MPI_Ireduce, at the root with MPI_IN_PLACE.
template <InPlaceView View, ReductionOf<View> Op>
Request<View> ireduce(On<View> on, const View& view, const Op& op, int root) {
  return detail::start(on, detail::Reduce{detail::reducer_of<View>(op), root}, view);
}

/// Collective, non-blocking. wait() returns what reduce() of a value does. MPI_Ireduce, at the root with
/// MPI_IN_PLACE.
template <PlainValue T, ReductionOf<T> Op>
Request<Value<T>> ireduce(const Communicator& comm, const T& value, const Op& op, int root) {
  return detail::start_value<detail::Element<T, Op>>(comm, detail::Reduce{detail::reducer_of<T>(op), root},
                                                     value);
}

/// Collective. `out` becomes the combination of `in` on ranks 0 to this one. MPI_Scan.
template <SentView In, ReceivedView Out, ReductionOf<In> Op>
void scan(On<In, Out> on, const In& in, const Out& out, const Op& op) {
  detail::run(on, detail::Scan{detail::reducer_of<In>(op)}, in, out);
}

/// Collective. In place. MPI_Scan with MPI_IN_PLACE.
template <InPlaceView View, ReductionOf<View> Op>
void scan(On<View> on, const View& view, const Op& op) {
  detail::run(on, detail::Scan{detail::reducer_of<View>(op)}, view);
}

/// Collective. The combination of the values of ranks 0 to this one. MPI_Scan with MPI_IN_PLACE.
template <PlainValue T, ReductionOf<T> Op>
T scan(const Communicator& comm, const T& value, const Op& op) {
  return detail::run_value<detail::Element<T, Op>>(comm, detail::Scan{detail::reducer_of<T>(op)}, value);
}

/// Collective, non-blocking. wait() returns `in` and `out`. MPI_Iscan.
template <SentView In, ReceivedView Out, ReductionOf<In> Op>
Request<In, Out> iscan(On<In, Out> on, const In& in, const Out& out, const Op& op) {
  return detail::start(on, detail::Scan{detail::reducer_of<In>(op)}, in, out);
}

/// Collective, non-blocking. In place. MPI_Iscan with MPI_IN_PLACE.
template <InPlaceView View, ReductionOf<View> Op>
Request<View> iscan(On<View> on, const View& view, const Op& op) {
  return detail::start(on, detail::Scan{detail::reducer_of<View>(op)}, view);
}

/// Collective, non-blocking. wait() returns what scan() of a value does. MPI_Iscan with MPI_IN_PLACE.
template <PlainValue T, ReductionOf<T> Op>
Request<Value<T>> iscan(const Communicator& comm, const T& value, const Op& op) {
  return detail::start_value<detail::Element<T, Op>>(comm, detail::Scan{detail::reducer_of<T>(op)}, value);
}

/// Collective. `out` becomes the combination of `in` on the ranks before this one. That of rank 0, which has
/// none before it, stays as it is. MPI_Exscan.
template <SentView In, ReceivedView Out, ReductionOf<In> Op>
void exscan(On<In, Out> on, const In& in, const Out& out, const Op& op) {
  detail::run(on, detail::Exscan{detail::reducer_of<In>(op)}, in, out);
}

/// Collective. In place. MPI_Exscan with MPI_IN_PLACE.
template <InPlaceView View, ReductionOf<View> Op>
void exscan(On<View> on, const View& view, const Op& op) {
  detail::run(on, detail::Exscan{detail::reducer_of<View>(op)}, view);
}

/// Collective. The combination of the values of the ranks before this one; T{} on rank 0. MPI_Exscan with
/// MPI_IN_PLACE.
template <PlainValue T, ReductionOf<T> Op>
T exscan(const Communicator& comm, const T& value, const Op& op) {
  const auto result =
      detail::run_value<detail::Element<T, Op>>(comm, detail::Exscan{detail::reducer_of<T>(op)}, value);
  return comm.rank() == 0 ? T{} : result;
}

/// Collective, non-blocking. wait() returns `in` and `out`. MPI_Iexscan.
template <SentView In, ReceivedView Out, ReductionOf<In> Op>
Request<In, Out> iexscan(On<In, Out> on, const In& in, const Out& out, const Op& op) {
  return detail::start(on, detail::Exscan{detail::reducer_of<In>(op)}, in, out);
}

/// Collective, non-blocking. In place. MPI_Iexscan with MPI_IN_PLACE.
template <InPlaceView View, ReductionOf<View> Op>
Request<View> iexscan(On<View> on, const View& view, const Op& op) {
  return detail::start(on, detail::Exscan{detail::reducer_of<View>(op)}, view);
}

/// Collective, non-blocking. wait() returns what exscan() of a value does. MPI_Iexscan with MPI_IN_PLACE.
template <PlainValue T, ReductionOf<T> Op>
Request<Value<T>> iexscan(const Communicator& comm, const T& value, const Op& op) {
  return detail::start_value<detail::Element<T, Op>>(comm, detail::Exscan{detail::reducer_of<T>(op)}, value,
                                                     comm.rank() != 0);
}

} // namespace kontor::comm
