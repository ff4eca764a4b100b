// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "device_views.hpp"

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

/// What one rank sends to all: `count(from, to)` elements to each.
template <class Row, class Count>
Row sent_by(int from, int ranks, const Count& count) {
  std::vector<int> counts;
  for (int to = 0; to < ranks; ++to) counts.push_back(count(from, to));
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

/// Whether what came from all ranks is what they sent to `to`.
template <class Row, class Count>
void expect_received(const Received<Row>& received, int to, const Count& count) {
  for (int from = 0; from + 1 < static_cast<int>(received.offsets.size()); ++from)
    expect_from(received.part(from), from, to, count(from, to));
  EXPECT_EQ(received.offsets.back(), static_cast<std::int64_t>(received.data.size()));
}

} // namespace kontor::comm::test
