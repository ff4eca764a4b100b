// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/device/noncopyable.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <string>

/// The one place that knows Kokkos versions apart: 3.4 (Debian 12) to 5.2 (sid).
namespace kontor::device {

/// A profiling region that ends with its scope: a few nanoseconds where no tool looks. Names of up to 15 characters
/// cost no allocation.
class Region : NonCopyable {
 public:
  /// Local. Begins it.
  explicit Region(const std::string& name) { Kokkos::Profiling::pushRegion(name); }
  ~Region() { Kokkos::Profiling::popRegion(); }
};

/// Waits for all work on the instance. Tools see a fence of this name.
template <class ExecutionSpace>
void fence(const ExecutionSpace& instance, const std::string& name) {
#if KOKKOS_VERSION >= 30500
  instance.fence(name);
#else // Kokkos 3.4 has no names for fences, and none of its host spaces tells the tools about one
  std::uint64_t handle = 0; // these two ask whether a tool listens; profileLibraryLoaded() takes far longer
  Kokkos::Tools::beginFence(name, 0, &handle);
  instance.fence();
  Kokkos::Tools::endFence(handle);
#endif
}

/// Whether Views of this type own their memory.
template <class View>
inline constexpr bool owns_memory = !View::memory_traits::is_unmanaged;

/// What Kokkos::create_mirror_view makes of such Views.
template <class View>
using HostMirror = typename View::host_mirror_type;

/// Whether code on the host can reach what the space's kernels work on.
template <class Space>
inline constexpr bool on_host = Kokkos::SpaceAccessibility<Kokkos::HostSpace, typename Space::memory_space>::accessible;

/// The same of the kernels of the default space.
inline constexpr bool kernels_on_host = on_host<Kokkos::DefaultExecutionSpace>;

} // namespace kontor::device
