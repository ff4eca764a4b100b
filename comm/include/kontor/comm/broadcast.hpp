// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/collectives/collective.hpp>

/// What all ranks get from one, and what only makes them meet; see On. CallError from check level `local` on if the
/// root is not a rank, or elements of a View that is written share memory.
namespace kontor::comm {
/// Collective. In place: every rank's View becomes the root's; of values the root's is returned. MPI_Bcast.
template <InPlace T>
auto bcast(On<T> on, const T& values, int root) {
  return detail::call<false, T>(on, {.kind = detail::Kind::bcast, .root = root}, values);
}

/// Collective, non-blocking. MPI_Ibcast.
template <InPlace T>
auto ibcast(On<T> on, const T& values, int root) {
  return detail::call<true, T>(on, {.kind = detail::Kind::bcast, .root = root}, values);
}

/// Collective. Returns when every rank has called it. MPI_Barrier.
inline void barrier(const Communicator& comm) { detail::call<false>(On<>(comm), {.kind = detail::Kind::barrier}); }

/// Collective, non-blocking. MPI_Ibarrier.
inline Request<> ibarrier(const Communicator& comm) {
  return detail::call<true>(On<>(comm), {.kind = detail::Kind::barrier});
}

} // namespace kontor::comm
