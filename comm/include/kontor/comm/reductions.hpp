// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/collective.hpp>
#include <kontor/comm/reduce_op.hpp>

/// Reductions: the elements of all ranks' Views combined, each with those at its place in the others.
///
/// The operation is a ReduceOp, or a functor without state that takes two elements, as (const T&, const T&),
/// and returns one; it must be associative and may not throw. Wrap it in commutative() to let MPI combine
/// ranks in any order; otherwise that of the ranks is kept. Elements of any transferable type take a functor,
/// structs included. Views are in host memory, of rank 0 to 8 and any layout, of equal extents and layouts on
/// all ranks (check level `cross_rank` verifies it). All are ordered on the host: fence what writes the Views
/// before.
///
/// The blocking ones return when the result is valid; the others give a Request, whose wait() returns the
/// Views when it is. A contiguous View costs the MPI call alone, a strided one travels through a copy. More
/// than 2^30 elements go in several calls, and non-blocking ones take at most 2^31 - 1.
///
/// Errors: CallError if MPI does not define the ReduceOp for the scalar type; from check level `local` on
/// also if the root is not a rank, or the two Views differ in size or share memory. Error with MPI's text if
/// MPI reports one.
namespace kontor::comm {
namespace detail {

struct Allreduce {
  static constexpr const char* name = "iallreduce";
  Reducer op;
  std::int64_t chunk = mpi::chunk_elements;
  void operator()(const Communicator&, const Operand& in, const Operand& out, Posted*) const;
  void operator()(const Communicator&, const Operand& inout, Posted*) const;
};

struct Reduce {
  static constexpr const char* name = "ireduce";
  Reducer op;
  int root;
  std::int64_t chunk = mpi::chunk_elements;
  void operator()(const Communicator&, const Operand& in, const Operand& out, Posted*) const;
  void operator()(const Communicator&, const Operand& inout, Posted*) const;
};

struct Scan {
  static constexpr const char* name = "iscan";
  Reducer op;
  std::int64_t chunk = mpi::chunk_elements;
  void operator()(const Communicator&, const Operand& in, const Operand& out, Posted*) const;
  void operator()(const Communicator&, const Operand& inout, Posted*) const;
};

struct Exscan {
  static constexpr const char* name = "iexscan";
  Reducer op;
  std::int64_t chunk = mpi::chunk_elements;
  void operator()(const Communicator&, const Operand& in, const Operand& out, Posted*) const;
  void operator()(const Communicator&, const Operand& inout, Posted*) const;
};

template <class View, class Op>
Reducer reducer_of(const Op& op) {
  check_sent<View>();
  return reducer<typename View::non_const_value_type>(op);
}

template <class T, class Op>
Reducer reducer_of_value(const Op& op) {
  static_assert(
      Transferable<T> && !std::is_pointer_v<T>,
      "kontor::comm: a reduction takes a Kokkos::View, or a value that is trivially copyable and not a "
      "pointer");
  return reducer<T>(op);
}

} // namespace detail

/// Collective. `out` becomes, on every rank, the combination of all ranks' `in`. MPI_Allreduce.
template <class In, class Out, class Op>
void allreduce(const Communicator& comm, const In& in, const Out& out, const Op& op) {
  detail::run(comm, detail::Allreduce{detail::reducer_of<In>(op)}, detail::read(in), detail::written(out));
}

/// Collective. In place. MPI_Allreduce with MPI_IN_PLACE.
template <ViewType View, class Op>
void allreduce(const Communicator& comm, const View& view, const Op& op) {
  detail::run(comm, detail::Allreduce{detail::reducer_of<View>(op)}, detail::in_place(view));
}

/// Collective. The combination of all ranks' values. MPI_Allreduce with MPI_IN_PLACE.
template <class T, class Op>
requires(!ViewType<T>) T allreduce(const Communicator& comm, T value, const Op& op) {
  detail::Allreduce{detail::reducer_of_value<T>(op)}(comm, detail::operand(value), nullptr);
  return value;
}

/// Collective, non-blocking. wait() returns `in` and `out`. MPI_Iallreduce.
template <class In, class Out, class Op>
Request<In, Out> iallreduce(const Communicator& comm, const In& in, const Out& out, const Op& op) {
  return detail::start(comm, detail::Allreduce{detail::reducer_of<In>(op)}, detail::read(in),
                       detail::written(out));
}

/// Collective, non-blocking. In place. MPI_Iallreduce with MPI_IN_PLACE.
template <ViewType View, class Op>
Request<View> iallreduce(const Communicator& comm, const View& view, const Op& op) {
  return detail::start(comm, detail::Allreduce{detail::reducer_of<View>(op)}, detail::in_place(view));
}

/// Collective. The root's `out` becomes the combination of all ranks' `in`; those of other ranks are not
/// looked at and may be empty. MPI_Reduce.
template <class In, class Out, class Op>
void reduce(const Communicator& comm, const In& in, const Out& out, const Op& op, int root) {
  detail::run(comm, detail::Reduce{detail::reducer_of<In>(op), root}, detail::read(in),
              detail::written(out, comm.rank() == root));
}

/// Collective. The root's View becomes the combination of all ranks' Views; those of other ranks are not
/// changed. MPI_Reduce, at the root with MPI_IN_PLACE.
template <ViewType View, class Op>
void reduce(const Communicator& comm, const View& view, const Op& op, int root) {
  detail::run(comm, detail::Reduce{detail::reducer_of<View>(op), root},
              detail::in_place_at(comm, root, view));
}

/// Collective, non-blocking. wait() returns `in` and `out`. MPI_Ireduce.
template <class In, class Out, class Op>
Request<In, Out> ireduce(const Communicator& comm, const In& in, const Out& out, const Op& op, int root) {
  return detail::start(comm, detail::Reduce{detail::reducer_of<In>(op), root}, detail::read(in),
                       detail::written(out, comm.rank() == root));
}

/// Collective, non-blocking. MPI_Ireduce, at the root with MPI_IN_PLACE.
template <ViewType View, class Op>
Request<View> ireduce(const Communicator& comm, const View& view, const Op& op, int root) {
  return detail::start(comm, detail::Reduce{detail::reducer_of<View>(op), root},
                       detail::in_place_at(comm, root, view));
}

/// Collective. `out` becomes the combination of `in` on ranks 0 to this one. MPI_Scan.
template <class In, class Out, class Op>
void scan(const Communicator& comm, const In& in, const Out& out, const Op& op) {
  detail::run(comm, detail::Scan{detail::reducer_of<In>(op)}, detail::read(in), detail::written(out));
}

/// Collective. In place. MPI_Scan with MPI_IN_PLACE.
template <ViewType View, class Op>
void scan(const Communicator& comm, const View& view, const Op& op) {
  detail::run(comm, detail::Scan{detail::reducer_of<View>(op)}, detail::in_place(view));
}

/// Collective. The combination of the values of ranks 0 to this one. MPI_Scan with MPI_IN_PLACE.
template <class T, class Op>
requires(!ViewType<T>) T scan(const Communicator& comm, T value, const Op& op) {
  detail::Scan{detail::reducer_of_value<T>(op)}(comm, detail::operand(value), nullptr);
  return value;
}

/// Collective, non-blocking. wait() returns `in` and `out`. MPI_Iscan.
template <class In, class Out, class Op>
Request<In, Out> iscan(const Communicator& comm, const In& in, const Out& out, const Op& op) {
  return detail::start(comm, detail::Scan{detail::reducer_of<In>(op)}, detail::read(in),
                       detail::written(out));
}

/// Collective, non-blocking. In place. MPI_Iscan with MPI_IN_PLACE.
template <ViewType View, class Op>
Request<View> iscan(const Communicator& comm, const View& view, const Op& op) {
  return detail::start(comm, detail::Scan{detail::reducer_of<View>(op)}, detail::in_place(view));
}

/// Collective. `out` becomes the combination of `in` on the ranks before this one. That of rank 0, which has
/// none before it, stays as it is. MPI_Exscan.
template <class In, class Out, class Op>
void exscan(const Communicator& comm, const In& in, const Out& out, const Op& op) {
  detail::run(comm, detail::Exscan{detail::reducer_of<In>(op)}, detail::read(in),
              detail::written(out, comm.rank() != 0));
}

/// Collective. In place. MPI_Exscan with MPI_IN_PLACE.
template <ViewType View, class Op>
void exscan(const Communicator& comm, const View& view, const Op& op) {
  detail::run(comm, detail::Exscan{detail::reducer_of<View>(op)},
              detail::in_place(view, comm.rank() == 0 ? detail::Use::read : detail::Use::both));
}

/// Collective. The combination of the values of the ranks before this one; T{} on rank 0. MPI_Exscan with
/// MPI_IN_PLACE.
template <class T, class Op>
requires(!ViewType<T>) T exscan(const Communicator& comm, T value, const Op& op) {
  detail::Exscan{detail::reducer_of_value<T>(op)}(comm, detail::operand(value), nullptr);
  return comm.rank() == 0 ? T{} : value;
}

/// Collective, non-blocking. wait() returns `in` and `out`. MPI_Iexscan.
template <class In, class Out, class Op>
Request<In, Out> iexscan(const Communicator& comm, const In& in, const Out& out, const Op& op) {
  return detail::start(comm, detail::Exscan{detail::reducer_of<In>(op)}, detail::read(in),
                       detail::written(out, comm.rank() != 0));
}

/// Collective, non-blocking. In place. MPI_Iexscan with MPI_IN_PLACE.
template <ViewType View, class Op>
Request<View> iexscan(const Communicator& comm, const View& view, const Op& op) {
  return detail::start(comm, detail::Exscan{detail::reducer_of<View>(op)},
                       detail::in_place(view, comm.rank() == 0 ? detail::Use::read : detail::Use::both));
}

} // namespace kontor::comm
