// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "comm_test.hpp"

#include <cstdint>
#include <cstdlib>

/// Views in device memory. Where there is no device, a memory space of which Kokkos says that the host does not reach
/// it stands in for one.
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
using Row = Kokkos::View<double*, OnDevice>;
using Block = Kokkos::View<double**, Kokkos::LayoutRight, OnDevice>;
using Column = Kokkos::View<double*, Kokkos::LayoutStride, OnDevice>;
using Host = Kokkos::View<double*, Kokkos::HostSpace>;
static_assert(!tested || memory_of<Row>() == MemoryKind::device);

/// An instance whose kernels reach the View: the one given, but where that is a device's and the View the host's.
template <class View>
auto reaching(const Space& instance) {
  if constexpr (has_device && memory_of<View>() == MemoryKind::host)
    return Kokkos::DefaultHostExecutionSpace();
  else
    return instance;
}

/// Element i is first + step * i.
template <class View>
void set(const View& view, double first, double step = 1, const Space& instance = {}) {
  double* const data = view.data();
  const auto stride = static_cast<std::int64_t>(view.stride(0));
  const auto on = reaching<View>(instance);
  Kokkos::parallel_for(
      Kokkos::RangePolicy<std::remove_const_t<decltype(on)>>(on, 0, view.extent(0)),
      KOKKOS_LAMBDA(int i) { data[i * stride] = first + step * i; });
}

template <class View>
int wrong(const View& view, double first, double step = 1, const Space& instance = {}) {
  const double* const data = view.data();
  const auto stride = static_cast<std::int64_t>(view.stride(0));
  int count = 0;
  const auto on = reaching<View>(instance);
  Kokkos::parallel_reduce(
      Kokkos::RangePolicy<std::remove_const_t<decltype(on)>>(on, 0, view.extent(0)),
      KOKKOS_LAMBDA(int i, int& sum) { sum += data[i * stride] != first + step * i; }, count);
  return count;
}

/// The methods of this machine, or both paths of the stand-in.
inline std::vector<Options> all_methods() {
  if (!tested) return {};
  if (has_device) return device_methods();
  setenv("KONTOR_GPU_AWARE_MPI", "1", 1); // which it is of the stand-in
  std::vector<Options> result(3);
  result[0].path = Path::staged;
  result[1].path = Path::direct;
  result[2].check = CheckLevel::cross_rank;
  return result;
}

template <class Test>
void with_each_method(const Test& test) {
  with_options(all_methods(), test);
  if (!has_device) unsetenv("KONTOR_GPU_AWARE_MPI");
}

inline constexpr int n = 7;

/// A View in one piece and one that is strided.
template <class Test>
void with_each_view(const Test& test) {
  test(Row("in", n), Row("out", n));
  const Block in("in", n, 3), out("out", n, 3);
  test(Column(Kokkos::subview(in, Kokkos::ALL(), 1)), Column(Kokkos::subview(out, Kokkos::ALL(), 1)));
}

} // namespace kontor::comm::test::on_device
