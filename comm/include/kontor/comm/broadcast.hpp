// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/calls/collective_call.hpp>

/// What all ranks get from one, and what only makes them meet. Views as in reductions.hpp; any number of
/// elements. Errors: CallError from check level `local` on if the root is not a rank, or elements of a View
/// that is written share memory; Error with MPI's text if MPI reports one.
namespace kontor::comm {
namespace detail {

struct Broadcast {
  static constexpr const char* name = "ibcast";
  int root;
  void operator()(const Communicator&, const Operand&, Posted*) const;
  /// Whether a backend has it by itself, with Views of this scalar.
  bool queues(const StreamCollectives&, Scalar, std::size_t views, std::int64_t count) const;
};

struct Barrier {
  static constexpr const char* name = "ibarrier";
  void operator()(const Communicator&, Posted*) const;
};

template <class View>
Used<View> broadcast(const Communicator& comm, int root, const View& view) {
  return in_place(view, comm.rank() == root ? Use::read : Use::written);
}

} // namespace detail

/// Collective. Every rank's View becomes the root's. MPI_Bcast.
template <ReceivedView View>
void bcast(On<View> on, const View& view, int root) {
  detail::run(on, detail::Broadcast{root}, detail::broadcast(on.comm, root, view));
}

/// Collective, non-blocking. wait() returns the View when it is the root's. MPI_Ibcast.
template <ReceivedView View>
Request<View> ibcast(On<View> on, const View& view, int root) {
  return detail::start(on, detail::Broadcast{root}, detail::broadcast(on.comm, root, view));
}

/// Collective. Returns when every rank has called it. MPI_Barrier.
inline void barrier(const Communicator& comm) {
  detail::run(On<>(comm), detail::Barrier{});
}

/// Collective, non-blocking. wait() returns when every rank has called it. MPI_Ibarrier.
inline Request<> ibarrier(const Communicator& comm) {
  return detail::start(On<>(comm), detail::Barrier{});
}

} // namespace kontor::comm
