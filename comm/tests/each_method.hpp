// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "places.hpp"

/// The same test with its Views in host memory and, where there is one, in a device's; and the conformance check: an
/// exchange must deliver the bits that MPI_Sendrecv delivers.
namespace kontor::comm::test {

/// Whether Views can go by index with this method; if not, the exchange must say so.
inline bool goes_by_index(const Communicator& comm) {
  return comm.options().packing != Packing::datatype || comm.options().backend == automatic_backend ||
         comm.capabilities().indexed_buffers;
}

/// Whether a test is about what travels: then each packing of a backend, by pattern `nonblocking`, shows as much.
enum class Patterns { all, nonblocking };

/// Collective over MPI_COMM_WORLD. Calls test(communicator, place) for every method that Views can use.
template <class Test>
void with_every_method(const Test& test, Contiguity contiguity = Contiguity::no, Patterns patterns = Patterns::all) {
  for (const auto& method : methods(contiguity)) {
    if (patterns == Patterns::nonblocking && method.pattern != Pattern::nonblocking) continue;
    SCOPED_TRACE(to_string(method));
    HostViews place;
    test(cached_communicator(method), place);
  }
  if constexpr (!device::on_host<Kokkos::DefaultExecutionSpace>) {
    for (const auto& method : device_methods(contiguity)) {
      SCOPED_TRACE("on the device: " + to_string(method));
      DeviceViews place;
      test(cached_communicator(method), place);
    }
  }
}

/// One slot of an exchange: both Views, and what they must hold after a step.
template <class Send, class Receive>
struct Leg {
  Field<Send> send;
  int destination;
  Field<Receive> receive;
  int source;
  Delivery delivery{watched(send), watched(receive)};

  template <class Space, class Place>
  void add_to(Exchange<Space>& exchange, Place& place) const {
    exchange.add(place.view(send), destination, place.view(receive), source);
  }
  void prepare(const Communicator& comm, int step, int number) {
    delivery.prepare(comm.native(), destination, source, step, number);
  }
  void check() const { delivery.check(); }
};
template <class Send, class Receive>
Leg(Field<Send>, int, Field<Receive>, int) -> Leg<Send, Receive>; // clang below 17 deduces none of an aggregate

/// Collective. Three steps of an exchange with the given legs, each with new data.
template <class Place, class... Legs>
void expect_steps(const Communicator& comm, Place& place, Legs... legs) {
  Exchange<Kokkos::View<double*, typename Place::Space>> exchange(comm, "ring");
  (legs.add_to(exchange, place), ...);
  exchange.commit();
  for (int step = 0; step < 3; ++step) {
    SCOPED_TRACE("step " + std::to_string(step));
    int number = 0;
    (legs.prepare(comm, step, number++), ...);
    run_step_at(place, exchange);
    (legs.check(), ...);
  }
}

/// Collective over MPI_COMM_WORLD, in every way. `a` goes to the next rank and lands in `b`, `c` goes to the previous
/// one and lands in `d`: around a closed ring, and along a row of ranks with two ends.
template <class A, class B, class C, class D>
void expect_ring(const Field<A>& a, const Field<B>& b, const Field<C>& c, const Field<D>& d,
                 Contiguity contiguity = Contiguity::no, Patterns patterns = Patterns::all) {
  const auto around = [&](const Communicator& comm, auto& place) {
    for (const bool periodic : {true, false}) {
      SCOPED_TRACE(periodic ? "periodic" : "closed");
      const auto [previous, next] = ring_of(comm, periodic);
      expect_steps(comm, place, Leg<A, B>{a, next, b, previous}, Leg<C, D>{c, previous, d, next});
    }
  };
  with_every_method(around, contiguity, patterns);
}

} // namespace kontor::comm::test
