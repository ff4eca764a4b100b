// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/communicator.hpp>
#include <kontor/comm/view_buffer.hpp>

#include <fmt/format.h>

/// Collective operations. All are ordered on the host: fence what writes the View before the call; the
/// result is valid when the call returns.
namespace kontor::comm {
namespace detail {

/// A host View as a contiguous buffer. Its label is left out, because a label is a string to allocate;
/// with_label() adds it to an error.
template <ViewType View>
Buffer collective_buffer(const char* operation, const View& view) {
  static_assert(!std::is_const_v<typename View::value_type>,
                "kontor::comm: the result of a collective operation cannot be received into a const View");
  if (!view.span_is_contiguous())
    throw UsageError(
        fmt::format("{}: View '{}' is not contiguous; copy it into one that is", operation, view.label()));
  static_assert(memory_of<View>() == MemoryKind::host,
                "kontor::comm: collective operations take Views in host memory");
  using T = typename View::non_const_value_type;
  return {view.data(), scalar_of<T>(), shape_of(view), MemoryKind::host, {}};
}

template <ViewType View, class Operation>
void with_label(const View& view, Operation operation) {
  try {
    operation();
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("View '{}': {}", view.label(), error.what()));
  } catch (const Error& error) {
    throw Error(fmt::format("View '{}': {}", view.label(), error.what()));
  }
}

} // namespace detail

/// Collective. Element by element over all ranks, in place; equal extents everywhere. MPI_Allreduce.
template <ViewType View>
void allreduce(const Communicator& comm, const View& view, ReduceOp op) {
  const auto buffer = detail::collective_buffer("allreduce", view);
  detail::with_label(view, [&] { comm.backend().allreduce(buffer, op); });
}

/// Collective. The result of the operation on all ranks' values. MPI_Allreduce.
template <class T>
requires std::is_arithmetic_v<T> || IsComplex<T>::value T allreduce(const Communicator& comm, T value,
                                                                    ReduceOp op) {
  comm.backend().allreduce({&value, scalar_of<T>(), {}, MemoryKind::host, {}}, op);
  return value;
}

/// Collective. Every rank's View becomes the root's; equal extents everywhere. MPI_Bcast.
template <ViewType View>
void bcast(const Communicator& comm, const View& view, int root) {
  const auto buffer = detail::collective_buffer("bcast", view);
  detail::with_label(view, [&] { comm.backend().bcast(buffer, root); });
}

/// Collective. Returns when every rank has called it. MPI_Barrier.
inline void barrier(const Communicator& comm) {
  comm.backend().barrier();
}

} // namespace kontor::comm
