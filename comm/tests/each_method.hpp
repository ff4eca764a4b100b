// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "comm_test.hpp"
#include "views.hpp"

#include <kontor/device/compat.hpp>

#include <any>

/// The same test with its Views in host memory and, where there is one, in a device's; and the conformance check: an
/// exchange must deliver the bits that MPI_Sendrecv delivers.
namespace kontor::comm::test {

struct HostViews {
  using Space = Kokkos::HostSpace;
  template <class View>
  View view(const Field<View>& field) {
    return field.view;
  }
  void load() {}
  void store() {}
  void forget() {}
};

/// Views travel as twins on the device, at the same places of twins of all the memory around them.
class DeviceViews {
 public:
  using Space = Kokkos::DefaultExecutionSpace::memory_space;

  template <class View>
  auto view(const Field<View>& field) {
    using Twin = Kokkos::View<typename View::data_type, Stride, Space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
    using T = typename View::value_type;
    Stride layout;
    std::size_t strides[9] = {};
    field.view.stride(strides);
    for (std::size_t d = 0; d < rank_of<View>; ++d) {
      layout.dimension[d] = field.view.extent(d);
      layout.stride[d] = strides[d];
    }
    const auto place = field.view.data() - field.memory.data();
    return Twin(static_cast<T*>(memory_of(field)) + place, layout);
  }

  void load() {
    for (const auto& [host, twin, owner] : twins_) Kokkos::deep_copy(twin, Unmanaged(host, twin.size()));
    Kokkos::fence();
  }
  void store() {
    Kokkos::fence();
    for (const auto& [host, twin, owner] : twins_) Kokkos::deep_copy(Unmanaged(host, twin.size()), twin);
  }
  void forget() { twins_.clear(); }

 private:
  using Bytes = Kokkos::View<unsigned char*, Space>;
  using Unmanaged = Kokkos::View<unsigned char*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  struct Twin {
    unsigned char* host;
    Bytes memory;
    std::any owner; ///< a View of the host's memory: store() writes there as long as the twin is
  };

  template <class View>
  void* memory_of(const Field<View>& field) {
    auto* const host = reinterpret_cast<unsigned char*>(field.memory.data());
    const auto known = std::find_if(twins_.begin(), twins_.end(), [&](const Twin& t) { return t.host == host; });
    if (known != twins_.end()) return known->memory.data();
    twins_.push_back({host, Bytes("twin", field.memory.size_bytes()), field.view});
    return twins_.back().memory.data();
  }

  std::vector<Twin> twins_;
};

/// A step of an exchange whose Views are at that place.
template <class Place, class View>
void run_step_at(Place& place, Exchange<View>& exchange) {
  place.load();
  run_step(exchange);
  place.store();
}

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
