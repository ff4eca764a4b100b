// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/calls/collective.hpp>

/// What all ranks get from one, and what only makes them meet. Views as in reductions.hpp; any number of
/// elements. Errors: CallError from check level `local` on if the root is not a rank, or elements of a View
/// that is written share memory; Error with MPI's text if MPI reports one.
namespace kontor::comm {
namespace detail {

struct Broadcast {
  static constexpr Traits traits{"bcast", "ibcast", Flow::from_root};
  int root;
  void operator()(const Call&) const;
  bool queues(const StreamCollectives& backend, Scalar, std::size_t, std::int64_t) const {
    return backend.moves();
  }
};

struct Barrier {
  static constexpr Traits traits{"barrier", "ibarrier", Flow::among_all};
  void operator()(const Call&) const;
};

} // namespace detail

/// Collective. Every rank's View becomes the root's. MPI_Bcast.
template <InPlaceView View>
void bcast(On<View> on, const View& view, int root) {
  detail::run(on, detail::Broadcast{root}, view);
}

/// Collective, non-blocking. wait() returns the View when it is the root's. MPI_Ibcast.
template <InPlaceView View>
Request<View> ibcast(On<View> on, const View& view, int root) {
  return detail::start(on, detail::Broadcast{root}, view);
}

/// Collective. The root's value; those of the other ranks are not looked at. MPI_Bcast.
template <PlainValue T>
T bcast(const Communicator& comm, const T& value, int root) {
  return detail::run_value<T>(comm, detail::Broadcast{root}, value);
}

/// Collective, non-blocking. wait() returns the root's value. MPI_Ibcast.
template <PlainValue T>
Request<Value<T>> ibcast(const Communicator& comm, const T& value, int root) {
  return detail::start_value<T>(comm, detail::Broadcast{root}, value);
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
