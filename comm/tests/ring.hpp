// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "each_method.hpp"

#include <kontor/comm/comm.hpp>

#include <gtest/gtest.h>

/// The conformance check: an exchange must deliver the bits that MPI_Sendrecv delivers.
namespace kontor::comm::test {

/// The hand-written twin of one slot: elements in logical order through MPI_Sendrecv. Returns what the whole
/// array that `receive` is part of must hold afterwards.
template <class Send, class Receive>
auto reference(MPI_Comm comm, const Field<Send>& send, int destination, const Field<Receive>& receive,
               int source) {
  using T = typename Field<Receive>::value_type;
  std::vector<T> out;
  for_each_index(extents_of(send.view), [&](const auto& i) { out.push_back(at(send.view, i)); });
  std::vector<T> in(receive.view.size());
  const auto peer = [](int rank) { return rank == no_rank ? MPI_PROC_NULL : rank; };
  const auto bytes = [](const auto& v) { return static_cast<int>(v.size() * sizeof(T)); };
  MPI_Sendrecv(out.data(), bytes(out), MPI_BYTE, peer(destination), 0, in.data(), bytes(in), MPI_BYTE,
               peer(source), 0, comm, MPI_STATUS_IGNORE);

  std::vector<T> expected(receive.memory.begin(), receive.memory.end());
  if (source == no_rank) return expected;
  std::size_t n = 0;
  for_each_index(extents_of(receive.view), [&](const auto& i) {
    const auto place = static_cast<std::size_t>(&at(receive.view, i) - receive.memory.data());
    std::memcpy(static_cast<void*>(&expected[place]), &in[n++], sizeof(T));
  });
  return expected;
}

/// One slot of an exchange: both Views, and what they must hold after a step.
template <class Send, class Receive>
struct Leg {
  Field<Send> send;
  int destination;
  Field<Receive> receive;
  int source;
  std::vector<typename Field<Send>::value_type> sent{};
  std::vector<typename Field<Send>::value_type> expected{};

  void prepare(const Communicator& comm, int step, int number) {
    const std::uint64_t seed = 1000 * comm.rank() + 10 * step + 2 * number;
    scramble(send.memory, seed);
    scramble(receive.memory, seed + 1);
    sent.assign(send.memory.begin(), send.memory.end());
    expected = reference(comm.native(), send, destination, receive, source);
  }
  void check() {
    EXPECT_TRUE(equal_bits(receive.memory, std::span(expected))) << "received into " << receive.view.label();
    EXPECT_TRUE(equal_bits(send.memory, std::span(sent))) << "sent from " << send.view.label();
  }
};

/// Collective. Three steps of an exchange with the given legs, each with new data.
template <class Place, class... Legs>
void expect_steps(const Communicator& comm, Place& place, Legs... legs) {
  using T = std::common_type_t<typename decltype(legs.receive)::value_type...>;
  Exchange<Kokkos::View<T*, typename Place::Space>> exchange(comm, "ring");
  (exchange.add(place.view(legs.send), legs.destination, place.view(legs.receive), legs.source), ...);
  exchange.commit();
  for (int step = 0; step < 3; ++step) {
    SCOPED_TRACE("step " + std::to_string(step));
    int number = 0;
    (legs.prepare(comm, step, number++), ...);
    place.load();
    exchange.start();
    exchange.finish();
    place.store();
    (legs.check(), ...);
  }
}

/// Collective over MPI_COMM_WORLD, in every way. `a` goes to the next rank and lands in `b`, `c` goes to
/// the previous one and lands in `d`: around a closed ring, and along a row of ranks with two ends.
template <class A, class B, class C, class D>
void expect_ring(const Field<A>& a, const Field<B>& b, const Field<C>& c, const Field<D>& d,
                 Contiguity contiguity = Contiguity::no) {
  const auto around = [&](const Communicator& comm, auto& place) {
    for (const bool periodic : {true, false}) {
      SCOPED_TRACE(periodic ? "periodic" : "closed");
      const auto [previous, next] = ring_of(comm, periodic);
      expect_steps(comm, place, Leg<A, B>{a, next, b, previous}, Leg<C, D>{c, previous, d, next});
    }
  };
  with_every_method(around, contiguity);
}

} // namespace kontor::comm::test
