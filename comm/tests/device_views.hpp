// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "places.hpp"

#include <cstdlib>

namespace kontor::comm::test::on_device {

using Row = Kokkos::View<double*, OnDevice>;
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

/// Collective. Calls test(communicator) for the methods of this machine, or both paths of the stand-in.
template <class Test>
void with_each_method(const Test& test) {
  if (!tested) return;
  if (has_device) return with_options(device_methods(), test);
  setenv("KONTOR_GPU_AWARE_MPI", "1", 1); // which it is of the stand-in
  std::vector<Options> methods(3);
  methods[0].path = Path::staged;
  methods[1].path = Path::direct;
  methods[2].check = CheckLevel::cross_rank;
  with_options(methods, test);
  unsetenv("KONTOR_GPU_AWARE_MPI");
}

inline constexpr int n = 7;

} // namespace kontor::comm::test::on_device

/// Views whose elements say who sent them to whom, in host memory and where kernels run.
namespace kontor::comm::test {

/// Of a device, of what stands in for one, or of the host.
using KernelRow = Kokkos::View<double*, on_device::Memory>;

/// What both check levels are to do, in both kinds of memory.
template <class Test>
void with_levels_and_memories(const Test& test) {
  setenv("KONTOR_GPU_AWARE_MPI", "1", on_device::has_device ? 0 : 1); // which it is of the stand-in
  for (const auto level : levels_with_checks)
    for (const auto path : {Path::automatic, Path::staged}) {
      if (path == Path::staged && memory_of<KernelRow>() == MemoryKind::host) continue;
      const Communicator comm(MPI_COMM_WORLD, {.path = path, .check = level});
      SCOPED_TRACE(to_string(comm.options()));
      test(comm, Doubles());
      test(comm, KernelRow());
    }
  if (!on_device::has_device) unsetenv("KONTOR_GPU_AWARE_MPI");
}

inline double element(int from, int to, std::int64_t i) { return 10000.0 * from + 100.0 * to + static_cast<double>(i); }

/// To each rank `count(from, to)` elements.
template <class Count>
std::vector<int> counts_of(int from, int ranks, const Count& count) {
  std::vector<int> counts;
  for (int to = 0; to < ranks; ++to) counts.push_back(count(from, to));
  return counts;
}

/// What one rank sends to all.
template <class Row, class Count>
Row sent_by(int from, int ranks, const Count& count) {
  const auto counts = counts_of(from, ranks, count);
  const Row row("sent", static_cast<std::size_t>(Counts(counts).total()));
  const auto offsets = Counts(counts).offsets();
  for (int to = 0; to < ranks; ++to)
    on_device::set(Kokkos::subview(row, std::pair(offsets[to], offsets[to + 1])), element(from, to, 0));
  Kokkos::fence();
  return row;
}

/// Whether `row` has as many elements of `from` for `to`.
template <class Row>
void expect_from(const Row& row, int from, int to, int count) {
  EXPECT_EQ(row.size(), static_cast<std::size_t>(count)) << "from " << from << " to " << to;
  EXPECT_EQ(on_device::wrong(row, element(from, to, 0)), 0) << "from " << from << " to " << to;
}

} // namespace kontor::comm::test
