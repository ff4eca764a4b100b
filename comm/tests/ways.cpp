// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ways.hpp"

#include <kontor/comm/comm.hpp>

#include <gtest/gtest.h>

namespace kontor::comm::test {

Options options_of(const Way& way) {
  Options options;
  options.backend = way.backend;
  options.packing = way.packing;
  return options;
}

std::vector<Way> ways(Contiguity contiguity) {
  std::vector<Way> result;
  for (const auto& entry : backends()) {
    if (!entry.make) continue;
    const std::string name(entry.name);
    result.push_back({name, Packing::automatic});
    result.push_back({name, Packing::kernel});
    if (Communicator(MPI_COMM_SELF, options_of(result.back())).backend().capabilities().strided_buffers)
      result.push_back({name, Packing::datatype});
    if (contiguity == Contiguity::yes) result.push_back({name, Packing::none});
  }
  return result;
}

std::string to_string(const Way& way) {
  constexpr const char* packings[] = {"automatic", "kernel", "datatype", "none"};
  return "backend " + way.backend + ", packing " + packings[static_cast<int>(way.packing)];
}

std::pair<int, int> ring_of(const Communicator& comm, bool periodic) {
  const int last = comm.size() - 1;
  const int end = periodic ? 0 : no_rank;
  const int begin = periodic ? last : no_rank;
  return {comm.rank() > 0 ? comm.rank() - 1 : begin, comm.rank() < last ? comm.rank() + 1 : end};
}

void expect_usable(const Communicator& comm) {
  const auto [previous, next] = ring_of(comm);
  const Kokkos::View<int*, Kokkos::HostSpace> out("out", 2);
  const Kokkos::View<int*, Kokkos::HostSpace> in("in", 2);
  Kokkos::deep_copy(out, comm.rank());
  Exchange<Kokkos::View<int*, Kokkos::HostSpace>> exchange(comm, "usable");
  exchange.add(out, next, in, previous);
  exchange.commit();
  exchange.start();
  exchange.finish();
  EXPECT_EQ(in(0), previous);
  EXPECT_EQ(in(1), previous);
  EXPECT_EQ(allreduce(comm, 1, ReduceOp::sum), comm.size());
}

} // namespace kontor::comm::test
