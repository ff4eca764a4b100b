// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Collective calls with contiguous Views make the MPI calls of the same code in plain MPI, and nothing else.
#include "collective_forms.hpp"
#include "cost.hpp"

namespace kontor::comm::test {
namespace {

using Block = HostView<double**, Left>;
using Pairs = HostView<Pair*>;

/// These calls make the arrays of counts and places that MPI takes, or what they return.
constexpr auto some = Allocations::some;

class CollectiveCounting : public AtLevel {
 protected:
  Doubles a{"a view with a label", 3};
  Doubles b{"b", 3};
  Block whole{"whole", 3, static_cast<std::size_t>(ranks)};
  Block other{"other", 3, static_cast<std::size_t>(ranks)};

  template <class Typed>
  void expect_nonblocking(const char* call, Typed typed) {
    expect_calls({{call, 1}, {"MPI_Wait", 1}}, [&] { typed().wait(); });
  }
};
INSTANTIATE_TEST_SUITE_P(Levels, CollectiveCounting, testing::Values(CheckLevel::off, CheckLevel::local));

TEST_P(CollectiveCounting, Reductions) {
  const auto sum = ReduceOp::sum;
  expect_calls({{"MPI_Allreduce", 1}}, [&] { allreduce(comm, a, sum); });
  expect_calls({{"MPI_Allreduce", 1}}, [&] { allreduce(comm, a, b, sum); });
  expect_calls({{"MPI_Allreduce", 1}}, [&] { allreduce(comm, 1.0, sum); });
  expect_calls({{"MPI_Reduce", 1}}, [&] { reduce(comm, a, sum, 0); });
  expect_calls({{"MPI_Reduce", 1}}, [&] { reduce(comm, a, b, sum, 0); });
  expect_calls({{"MPI_Scan", 1}}, [&] { scan(comm, a, b, sum); });
  expect_calls({{"MPI_Exscan", 1}}, [&] { exscan(comm, a, sum); });
  const Doubles part("part", 3);
  expect_calls({{"MPI_Reduce_scatter_block", 1}}, [&] { reduce_scatter(comm, whole, part, sum); });
  expect_calls({{"MPI_Reduce_scatter_block", 1}}, [&] { reduce_scatter(comm, whole, sum); });
  expect_calls(
      {{"MPI_Reduce_scatter", 1}},
      [&] { reduce_scatter(comm, whole, part, std::vector<int>(ranks, 3), sum); }, some);
  expect_nonblocking("MPI_Ireduce_scatter_block", [&] { return ireduce_scatter(comm, whole, part, sum); });
  expect_nonblocking("MPI_Iallreduce", [&] { return iallreduce(comm, a, b, sum); });
  expect_nonblocking("MPI_Ireduce", [&] { return ireduce(comm, a, sum, 0); });
  expect_nonblocking("MPI_Iscan", [&] { return iscan(comm, a, b, sum); });
  expect_nonblocking("MPI_Iexscan", [&] { return iexscan(comm, a, b, sum); });
}

/// A step makes the two calls of its twin in plain MPI.
TEST_P(CollectiveCounting, ReductionPlans) {
  Reduction in_place(comm, "in place", a, ReduceOp::sum);
  Reduction both(comm, "a long label of a reduction", a, b, ReduceOp::max);
  const auto expect_step = [&](auto& reduction) {
    const auto cost = cost_of([&] { run_step(reduction); });
    EXPECT_EQ(cost.mpi, (MpiCalls{{"MPI_Iallreduce", 1}, {"MPI_Wait", 1}}));
    EXPECT_EQ(cost.allocations, 0);
    EXPECT_EQ(cost.tools.allocations, List{});
    EXPECT_EQ(cost.tools.kernels, List{});
    EXPECT_EQ(cost.tools.fences, List{"comm/packed"});
  };
  expect_step(in_place);
  expect_step(both);
}

/// MPI gets the operation and the type of a functor's elements with the first call.
TEST_P(CollectiveCounting, Functors) {
  const Pairs pairs("pairs", 4);
  const auto heavier = commutative([](const Pair& x, const Pair& y) { return x.weight < y.weight ? y : x; });
  start_counting_mpi();
  allreduce(comm, pairs, heavier);
  EXPECT_EQ(
      stop_counting_mpi(),
      (MpiCalls{
          {"MPI_Allreduce", 1}, {"MPI_Op_create", 1}, {"MPI_Type_contiguous", 1}, {"MPI_Type_commit", 1}}));
  expect_calls({{"MPI_Allreduce", 1}}, [&] { allreduce(comm, pairs, heavier); });
  expect_nonblocking("MPI_Iscan", [&] { return iscan(comm, pairs, heavier); });

  start_counting_mpi();
  {
    const Communicator shorter(MPI_COMM_WORLD, comm.options());
    allreduce(shorter, pairs, heavier);
  }
  auto calls = stop_counting_mpi();
  EXPECT_EQ(calls["MPI_Op_free"], 1);
  EXPECT_EQ(calls["MPI_Type_free"], 1);
}

TEST_P(CollectiveCounting, EqualParts) {
  expect_calls({{"MPI_Bcast", 1}}, [&] { bcast(comm, whole, 0); });
  expect_calls({{"MPI_Bcast", 1}}, [&] { bcast(comm, 1.5, 0); });
  expect_calls(
      {{"MPI_Gather", 1}}, [&] { gather(comm, 1.5, 0); }, some);
  expect_calls(
      {{"MPI_Allgather", 1}}, [&] { allgather(comm, 1.5); }, some);
  expect_calls({{"MPI_Barrier", 1}}, [&] { barrier(comm); });
  expect_calls({{"MPI_Gather", 1}}, [&] { gather(comm, a, whole, 0); });
  expect_calls({{"MPI_Scatter", 1}}, [&] { scatter(comm, whole, a, 0); });
  expect_calls({{"MPI_Allgather", 1}}, [&] { allgather(comm, a, whole); });
  expect_calls({{"MPI_Allgather", 1}}, [&] { allgather(comm, whole); });
  expect_calls({{"MPI_Alltoall", 1}}, [&] { alltoall(comm, whole, other); });
  expect_nonblocking("MPI_Ibcast", [&] { return ibcast(comm, whole, 0); });
  expect_nonblocking("MPI_Ibarrier", [&] { return ibarrier(comm); });
  expect_nonblocking("MPI_Igather", [&] { return igather(comm, a, whole, 0); });
  expect_nonblocking("MPI_Iscatter", [&] { return iscatter(comm, whole, a, 0); });
  expect_nonblocking("MPI_Iallgather", [&] { return iallgather(comm, a, whole); });
  expect_nonblocking("MPI_Ialltoall", [&] { return ialltoall(comm, whole, other); });
}

/// Where nothing is checked no problem is looked for, nor put in words.
TEST(CollectiveCountingOff, NoProblems) {
  const Communicator comm(MPI_COMM_WORLD, {.check = CheckLevel::off});
  const Doubles part("part", 3), whole("whole", 3 * comm.size() + 1);
  const auto cost = cost_of([&] {
    allgather(comm, part, whole);
    gather(comm, part, whole, 0);
    scatter(comm, whole, part, 0);
  });
  EXPECT_EQ(cost.allocations, 0);
}

TEST_P(CollectiveCounting, UnevenParts) {
  const std::vector<int> counts(ranks, 3);
  expect_calls(
      {{"MPI_Gatherv", 1}}, [&] { gatherv(comm, a, whole, counts, 0); }, some);
  expect_calls(
      {{"MPI_Scatterv", 1}}, [&] { scatterv(comm, whole, counts, a, 0); }, some);
  expect_calls(
      {{"MPI_Allgatherv", 1}}, [&] { allgatherv(comm, a, whole, counts); }, some);
  expect_calls(
      {{"MPI_Alltoallv", 1}}, [&] { alltoallv(comm, whole, counts, other, counts); }, some);
}

/// One kernel at each end.
TEST_P(CollectiveCounting, StridedViewsArePacked) {
  const auto field = inside<double, Left>("field", Index<2>{3, 4});
  const auto cost = cost_of([&] { allreduce(comm, field.view, ReduceOp::sum); });
  EXPECT_EQ(cost.mpi, (MpiCalls{{"MPI_Allreduce", 1}}));
  const auto& kernels = cost.tools.kernels;
  EXPECT_EQ(std::count(kernels.begin(), kernels.end(), "comm/pack"), 1);
  EXPECT_EQ(std::count(kernels.begin(), kernels.end(), "comm/unpack"), 1);
}

/// A View that a rank neither gives nor gets is not packed.
TEST_P(CollectiveCounting, ViewsWithoutAccessAreNotPacked) {
  if (ranks == 1) return; // one column lies in one piece
  const auto field = inside<double, Left>("field", Index<2>{3, static_cast<std::size_t>(ranks)});
  const auto kernels = [&](auto call) {
    auto all = cost_of(call).tools.kernels;
    std::erase_if(all, [](const std::string& label) { return label.rfind("Kokkos::", 0) == 0; });
    return all;
  };
  const bool at_root = comm.rank() == ranks - 1;
  const List none, pack{"comm/pack"}, unpack{"comm/unpack"};
  const int root = ranks - 1;
  EXPECT_EQ(kernels([&] { gather(comm, a, field.view, root); }), at_root ? unpack : none);
  EXPECT_EQ(kernels([&] { igather(comm, a, field.view, root).wait(); }), at_root ? unpack : none);
  EXPECT_EQ(kernels([&] { gatherv(comm, a, field.view, std::vector<int>(ranks, 3), root); }),
            at_root ? unpack : none);
  EXPECT_EQ(kernels([&] { scatter(comm, field.view, a, root); }), at_root ? pack : none);
  EXPECT_EQ(kernels([&] { reduce(comm, whole, field.view, ReduceOp::sum, root); }), at_root ? unpack : none);
  EXPECT_EQ(kernels([&] { exscan(comm, whole, field.view, ReduceOp::sum); }),
            comm.rank() > 0 ? unpack : none);
}

} // namespace
} // namespace kontor::comm::test
