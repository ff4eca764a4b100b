// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Many steps without a fence of the program's own: an exchange is ordered with the kernels before and after it on its
// instance, on ranks that are now faster and now slower than their neighbours.
#include "comm_test.hpp"

#include <kontor/device/compat.hpp>
#include <kontor/device/streams.hpp>

namespace kontor::comm::test {
namespace {

using Space = Kokkos::DefaultExecutionSpace;
using Cells = Kokkos::View<double**, Right, Space>;
using Count = Kokkos::View<int, Space>;
using Range = Kokkos::RangePolicy<Space>;

constexpr int rows = 300;
constexpr int columns = 70;
constexpr int steps = 25;

KOKKOS_INLINE_FUNCTION double value(int rank, int step, int place) { return rank * 1e6 + step * 1e3 + place; }

/// Work whose result nobody needs.
void delay(const Space& instance, const Count& result, int rank, int step) {
  const int turns = (rank + step) % 3 * 10000;
  Kokkos::parallel_for(
      "test/delay", Range(instance, 0, 1), KOKKOS_LAMBDA(int) {
        unsigned x = 1;
        for (int i = 0; i < turns; ++i) x = x * 1664525u + 1013904223u;
        result() = static_cast<int>(x);
      });
}

void fill(const Space& instance, const Cells& cells, int rank, int step) {
  Kokkos::parallel_for(
      "test/fill", Range(instance, 1, rows - 1), KOKKOS_LAMBDA(int i) {
        cells(i, columns - 2) = value(rank, step, i);
        if (i < columns - 2) cells(rows - 2, i) = value(rank, step, 500 + i);
      });
}

/// Counts what is not the previous rank's column and row of this step.
void check(const Space& instance, const Cells& cells, int previous, int step, const Count& errors) {
  Kokkos::parallel_for(
      "test/check", Range(instance, 1, rows - 1), KOKKOS_LAMBDA(int i) {
        int wrong = cells(i, 0) != value(previous, step, i) && i < rows - 2;
        if (i < columns - 2) wrong += cells(0, i) != value(previous, step, 500 + i);
        if (wrong) Kokkos::atomic_add(&errors(), wrong);
      });
}

/// Two exchanges take turns in being the first.
int errors_in_a_ring(const Options& options, bool periodic) {
  const Communicator comm(MPI_COMM_WORLD, options);
  const auto [previous, next] = ring_of(comm, periodic);
  const int rank = comm.rank();
  const device::OwnedStream<Space> own(device::Priority::high);
  const auto& instance = own.get();
  const Cells cells("cells", rows, columns);
  const Count errors("errors"), unused("unused"), unused_too("unused too");
  const auto column = std::pair(1, rows - 2);
  const auto row = std::pair(1, columns - 2);
  Kokkos::fence();
  Exchange<Cells> u(comm, "columns", instance);
  Exchange<Cells> v(comm, "rows", instance);
  u.add(Kokkos::subview(cells, column, columns - 2), next, Kokkos::subview(cells, column, 0), previous);
  v.add(Kokkos::subview(cells, rows - 2, row), next, Kokkos::subview(cells, 0, row), previous);
  u.commit();
  v.commit();
  for (int step = 0; step < steps; ++step) {
    auto& first = step % 2 == 0 ? u : v;
    auto& second = step % 2 == 0 ? v : u;
    delay(instance, unused, rank, step);
    fill(instance, cells, rank, step);
    first.start();
    second.start();
    delay(Space(), unused_too, rank, step + 1);
    first.finish();
    second.finish();
    if (previous != no_rank) check(instance, cells, previous, step, errors);
  }
  Kokkos::fence();
  int result = 0;
  Kokkos::deep_copy(result, errors);
  return result;
}

TEST(Order, StepsWithoutFences) {
  for (const auto& method : device::on_host<Space> ? methods() : device_methods()) {
    SCOPED_TRACE(to_string(method));
    EXPECT_EQ(errors_in_a_ring(method, true), 0);
    EXPECT_EQ(errors_in_a_ring(method, false), 0);
  }
}

} // namespace
} // namespace kontor::comm::test
