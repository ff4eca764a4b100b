// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "comm_test.hpp"
#include "views.hpp"

#include <kontor/device/compat.hpp>

#include <any>
#include <cstring>

/// Views in device memory. Without a device, a memory space stands in that, to Kokkos, the host does not reach.
namespace kontor::comm::test::on_device {

using Space = Kokkos::DefaultExecutionSpace;
inline constexpr bool has_device = !device::on_host<Space>;

#if KOKKOS_VERSION < 40000
struct StandIn {
  static constexpr const char* get_name() { return "StandIn"; }
};
using Memory = std::conditional_t<
    has_device, Space::memory_space,
    Kokkos::Experimental::LogicalMemorySpace<Kokkos::HostSpace, Space, StandIn,
                                             Kokkos::Experimental::LogicalSpaceSharesAccess::no_shared_access>>;
inline constexpr bool tested = true;
#else // which has nothing to stand in for a device
using Memory = Space::memory_space;
inline constexpr bool tested = has_device;
#endif
using OnDevice = Kokkos::Device<Space, Memory>;

} // namespace kontor::comm::test::on_device

/// Where the Views of a test lie: those of the host themselves, or twins of them in device memory.
namespace kontor::comm::test {

struct HostViews {
  using Space = Kokkos::HostSpace;
  template <class View>
  View view(const Field<View>& field) {
    return field.view;
  }
  void load() {}
  void store() {}
};

/// Views travel as twins on the device, at the same places of twins of all the memory around them.
class DeviceViews {
 public:
  using Space = on_device::OnDevice;

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
    for (const auto& twin : twins_) copy(twin.memory, Unmanaged(twin.host, twin.memory.size()));
    Kokkos::fence();
  }
  void store() {
    Kokkos::fence();
    for (const auto& twin : twins_) copy(Unmanaged(twin.host, twin.memory.size()), twin.memory);
  }

 private:
  using Bytes = Kokkos::View<unsigned char*, Space>;
  using Unmanaged = Kokkos::View<unsigned char*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  struct Twin {
    unsigned char* host;
    Bytes memory;
    std::any owner; ///< a View of the host's memory: store() writes there as long as the twin is
  };

  template <class To, class From>
  static void copy(const To& to, const From& from) {
    if constexpr (on_device::has_device)
      Kokkos::deep_copy(to, from);
    else
      std::memcpy(to.data(), from.data(), from.size());
  }

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

} // namespace kontor::comm::test
