// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a step costs besides the messages: nothing.
#include "cost.hpp"
#include "views.hpp"
#include "ways.hpp"

#include <kontor/comm/comm.hpp>

#include <gtest/gtest.h>

namespace kontor::comm::test {

namespace {

using Left = Kokkos::LayoutLeft;
using Right = Kokkos::LayoutRight;
using List = std::vector<std::string>;
using Doubles = Kokkos::View<double*, Kokkos::HostSpace>;

/// The exchange of one step, written in plain MPI for `slots` messages each way.
MpiCalls calls_of_twin(MPI_Comm comm, int slots, int destination, int source) {
  std::vector<double> out(20), in(20 * slots);
  std::vector<MPI_Request> requests;
  requests.reserve(2 * slots);
  start_counting_mpi();
  for (int k = 0; k < slots && source != no_rank; ++k)
    MPI_Irecv(&in[20 * k], 20, MPI_DOUBLE, source, k, comm, &requests.emplace_back());
  for (int k = 0; k < slots && destination != no_rank; ++k)
    MPI_Isend(out.data(), 20, MPI_DOUBLE, destination, k, comm, &requests.emplace_back());
  MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
  return stop_counting_mpi();
}

/// What Kokkos and the threads below it take for any kernel: nothing with Serial; GCC's OpenMP takes some.
int allocations_of_a_kernel() {
  using Space = Doubles::execution_space;
  const Space instance;
  const auto kernel = [&] {
    Kokkos::parallel_for("test/empty", Kokkos::RangePolicy<Space>(instance, 0, 100), KOKKOS_LAMBDA(int){});
  };
  return cost_of(kernel).allocations;
}

bool begins_with_comm(const std::string& label) {
  return label.rfind("comm/", 0) == 0;
}

enum class Messages { contiguous, strided };

/// Two slots up the ranks, one of them from rows to columns where strided.
void expect_step_costs(const Way& way, Messages messages, bool periodic, const Cost& expected) {
  const Communicator comm(MPI_COMM_WORLD, options_of(way));
  const auto [previous, next] = ring_of(comm, periodic);
  const auto a = whole<double, Right>("a", Index<2>{4, 5});
  const auto b = whole<double, Right>("b", Index<2>{4, 5});
  const auto c = inside<double, Right>("c", Index<2>{4, 5});
  const auto d = inside<double, Left>("d", Index<2>{4, 5});
  const auto twin = calls_of_twin(comm.native(), 2, next, previous);
  Exchange<Doubles> exchange(comm, "counted");
  exchange.add(a.view, next, b.view, previous);
  if (messages == Messages::contiguous)
    exchange.add(b.view, next, a.view, previous);
  else
    exchange.add(c.view, next, d.view, previous);
  exchange.commit();

  for (int step = 0; step < 2; ++step) {
    SCOPED_TRACE(to_string(way) + ", step " + std::to_string(step));
    const auto cost = cost_of([&] {
      exchange.start();
      exchange.finish();
    });
    EXPECT_EQ(cost.mpi, twin);
    EXPECT_EQ(cost.allocations, static_cast<int>(cost.tools.kernels.size()) * allocations_of_a_kernel());
    EXPECT_EQ(cost.tools.allocations, List{});
    EXPECT_EQ(cost.tools.kernels, expected.tools.kernels);
    EXPECT_EQ(cost.tools.fences, List{"comm/packed"});
    EXPECT_EQ(cost.tools.regions, (List{"comm/pack", "comm/post", "comm/wait", "comm/unpack"}));
    EXPECT_EQ(cost.tools.open_regions, 0);
  }
}

Cost kernels(List names) {
  Cost cost;
  cost.tools.kernels = std::move(names);
  return cost;
}

TEST(Counting, ContiguousViewsArePackedByNobody) {
  for (const auto& way : ways(Contiguity::yes))
    expect_step_costs(way, Messages::contiguous, true, kernels({}));
}

TEST(Counting, StridedViewsTakeOneKernelAtEachEnd) {
  for (const auto& way : ways())
    expect_step_costs(way, Messages::strided, true,
                      kernels(way.packing == Packing::datatype ? List{} : List{"comm/pack", "comm/unpack"}));
}

TEST(Counting, ClosedEndsTakeNoMessages) {
  int rank = 0, size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  List names;
  if (rank < size - 1) names.push_back("comm/pack");
  if (rank > 0) names.push_back("comm/unpack");
  if (size > 1) expect_step_costs({"raw", Packing::kernel}, Messages::strided, false, kernels(names));
}

/// One kernel for all messages that are packed, and only those.
TEST(Counting, KernelsAreFused) {
  const Communicator comm(MPI_COMM_WORLD);
  const auto [previous, next] = ring_of(comm);
  Exchange<Doubles> exchange(comm, "fused");
  for (int slot = 0; slot < 5; ++slot)
    exchange.add(inside<double, Right>("out", Index<2>{4, 5}).view, next,
                 inside<double, Left>("in", Index<2>{4, 5}).view, previous);
  exchange.commit();
  const auto cost = cost_of([&] {
    exchange.start();
    exchange.finish();
  });
  EXPECT_EQ(cost.tools.kernels, (List{"comm/pack", "comm/unpack"}));
  EXPECT_EQ(cost.mpi, (MpiCalls{{"MPI_Irecv", 5}, {"MPI_Isend", 5}, {"MPI_Waitall", 1}}));
}

/// Whatever commit() does as well: its kernels are those that Kokkos makes to fill a View of ours.
TEST(Counting, EveryLabelIsOurs) {
  const Communicator comm(MPI_COMM_WORLD);
  const auto [previous, next] = ring_of(comm);
  const auto out = inside<double, Right>("out", Index<2>{4, 5});
  const auto in = inside<double, Left>("in", Index<2>{4, 5});
  const auto tools = cost_of([&] {
                       Exchange<Doubles> exchange(comm, "labelled");
                       exchange.add(out.view, next, in.view, previous);
                       exchange.commit();
                       exchange.start();
                       exchange.finish();
                     }).tools;
  EXPECT_FALSE(tools.allocations.empty());
  EXPECT_EQ(tools.open_regions, 0);
  for (const auto& label : tools.allocations) EXPECT_TRUE(begins_with_comm(label)) << label;
  for (const auto& label : tools.regions) EXPECT_TRUE(begins_with_comm(label)) << label;
  for (const auto& label : tools.kernels)
    EXPECT_TRUE(begins_with_comm(label) || label.find("[comm/") != std::string::npos) << label;
}

/// A plan's datatypes are made by commit() and freed with it.
TEST(Counting, DatatypesAreFreed) {
  for (const auto& way : ways()) {
    SCOPED_TRACE(to_string(way));
    const Communicator comm(MPI_COMM_WORLD, options_of(way));
    const auto [previous, next] = ring_of(comm);
    const auto out = inside<double, Right>("out", Index<3>{4, 5, 3});
    const auto in = inside<double, Left>("in", Index<3>{4, 5, 3});
    auto calls = cost_of([&] {
                   Exchange<Doubles> exchange(comm, "freed");
                   exchange.add(out.view, next, in.view, previous);
                   exchange.commit();
                   exchange.start();
                   exchange.finish();
                 }).mpi;
    EXPECT_EQ(calls["MPI_Type_contiguous"] + calls["MPI_Type_create_hvector"], calls["MPI_Type_free"]);
    EXPECT_EQ(calls["MPI_Type_commit"], way.packing == Packing::datatype ? 2 : 0);
  }
}

TEST(Counting, CollectivesAreOneCall) {
  for (const auto& way : ways()) {
    const Communicator comm(MPI_COMM_WORLD, options_of(way));
    const Doubles view("view", 3);
    const auto scalar = cost_of([&] { allreduce(comm, 1.0, ReduceOp::sum); });
    EXPECT_EQ(scalar.mpi, (MpiCalls{{"MPI_Allreduce", 1}}));
    EXPECT_EQ(scalar.allocations, 0);
    const auto in_place = cost_of([&] { allreduce(comm, view, ReduceOp::max); });
    EXPECT_EQ(in_place.mpi, (MpiCalls{{"MPI_Allreduce", 1}}));
    EXPECT_EQ(in_place.allocations, 0);
    const auto broadcast = cost_of([&] { bcast(comm, view, 0); });
    EXPECT_EQ(broadcast.mpi, (MpiCalls{{"MPI_Bcast", 1}}));
    EXPECT_EQ(broadcast.allocations, 0);
    EXPECT_EQ(cost_of([&] { barrier(comm); }).mpi, (MpiCalls{{"MPI_Barrier", 1}}));
  }
}

/// The counters count: a test that counts nothing would pass whatever happens.
TEST(Counting, CountersCount) {
  const auto cost = cost_of([] {
    delete new int;
    std::free(std::malloc(1));
    const Kokkos::View<int*, Kokkos::HostSpace> view("counted", 1);
    Kokkos::parallel_for("kernel", 1, KOKKOS_LAMBDA(int){});
    MPI_Barrier(MPI_COMM_WORLD);
  });
  EXPECT_GE(cost.allocations, 2);
  EXPECT_EQ(cost.tools.allocations, List{"counted"});
  EXPECT_EQ(cost.tools.kernels.back(), "kernel");
  EXPECT_EQ(cost.mpi, (MpiCalls{{"MPI_Barrier", 1}}));
}

} // namespace
} // namespace kontor::comm::test
