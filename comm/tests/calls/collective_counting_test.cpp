// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Collective calls with contiguous Views make the MPI calls of the same code in plain MPI, and nothing else.
#include "collective_forms.hpp"
#include "cost.hpp"

#include <cctype>

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

  /// Blocking, the call makes one call of MPI_Name; non-blocking, one of MPI_Iname and MPI_Wait.
  template <class Forms>
  void expect_one(std::string name, const Forms& forms, Allocations allocations = Allocations::none) {
    SCOPED_TRACE(forms.text);
    const auto nonblocking = "MPI_I" + name;
    name[0] = static_cast<char>(std::toupper(name[0]));
    expect_calls(
        {{"MPI_" + name, 1}}, [&] { (void)forms.blocking(); }, allocations);
    expect_calls(
        {{nonblocking, 1}, {"MPI_Wait", 1}}, [&] { forms.nonblocking().wait(); }, allocations);
  }
};
INSTANTIATE_TEST_SUITE_P(Levels, CollectiveCounting, testing::Values(CheckLevel::off, CheckLevel::local));

TEST_P(CollectiveCounting, Reductions) {
  const auto sum = ReduceOp::sum;
  const Doubles part("part", 3);
  expect_one("allreduce", KONTOR_FORMS(allreduce, comm, a, sum));
  expect_one("allreduce", KONTOR_FORMS(allreduce, comm, a, b, sum));
  expect_calls({{"MPI_Allreduce", 1}}, [&] { allreduce(comm, 1.0, sum); });
  expect_one("reduce", KONTOR_FORMS(reduce, comm, a, sum, 0));
  expect_one("reduce", KONTOR_FORMS(reduce, comm, a, b, sum, 0));
  expect_one("scan", KONTOR_FORMS(scan, comm, a, b, sum));
  expect_one("exscan", KONTOR_FORMS(exscan, comm, a, sum));
  expect_one("exscan", KONTOR_FORMS(exscan, comm, a, b, sum));
  expect_one("reduce_scatter_block", KONTOR_FORMS(reduce_scatter, comm, whole, part, sum));
  expect_one("reduce_scatter_block", KONTOR_FORMS(reduce_scatter, comm, whole, sum));
  const std::vector<int> counts(ranks, 3);
  expect_one("reduce_scatter", KONTOR_FORMS(reduce_scatter, comm, whole, part, counts, sum), some);
}

/// A step makes the two calls of its twin in plain MPI.
TEST_P(CollectiveCounting, ReductionPlans) {
  Reduction in_place(comm, "in place", a, ReduceOp::sum);
  Reduction both(comm, "a long label of a reduction", a, b, ReduceOp::max);
  const auto expect_step = [&](auto& reduction) {
    expect_calls({{"MPI_Iallreduce", 1}, {"MPI_Wait", 1}}, [&] { run_step(reduction); }, Allocations::none,
                 {.fences = {"comm/packed"}, .regions = {"comm/post", "comm/wait"}});
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
  EXPECT_EQ(stop_counting_mpi(),
            (MpiCalls{{"MPI_Allreduce", 1}, {"MPI_Op_create", 1}, {"MPI_Type_contiguous", 1}, {"MPI_Type_commit", 1}}));
  expect_one("allreduce", KONTOR_FORMS(allreduce, comm, pairs, heavier));
  expect_one("scan", KONTOR_FORMS(scan, comm, pairs, heavier));

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
  expect_one("bcast", KONTOR_FORMS(bcast, comm, whole, 0));
  expect_one("gather", KONTOR_FORMS(gather, comm, a, whole, 0));
  expect_one("scatter", KONTOR_FORMS(scatter, comm, whole, a, 0));
  expect_one("allgather", KONTOR_FORMS(allgather, comm, a, whole));
  expect_one("allgather", KONTOR_FORMS(allgather, comm, whole));
  expect_one("alltoall", KONTOR_FORMS(alltoall, comm, whole, other));
  expect_one("barrier", KONTOR_FORMS(barrier, comm));
}

TEST_P(CollectiveCounting, Values) {
  expect_calls({{"MPI_Bcast", 1}}, [&] { bcast(comm, 1.5, 0); });
  expect_calls(
      {{"MPI_Gather", 1}}, [&] { gather(comm, 1.5, 0); }, some);
  expect_calls(
      {{"MPI_Allgather", 1}}, [&] { allgather(comm, 1.5); }, some);
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
  expect_one("gatherv", KONTOR_FORMS(gatherv, comm, a, whole, counts, 0), some);
  expect_one("scatterv", KONTOR_FORMS(scatterv, comm, whole, counts, a, 0), some);
  expect_one("allgatherv", KONTOR_FORMS(allgatherv, comm, a, whole, counts), some);
  expect_one("alltoallv", KONTOR_FORMS(alltoallv, comm, whole, counts, other, counts), some);
}

/// One kernel at each end.
TEST_P(CollectiveCounting, StridedViewsArePacked) {
  const auto field = inside<double, Left>("field", Index<2>{3, 4});
  expect_packed({{"MPI_Allreduce", 1}}, [&] { allreduce(comm, field.view, ReduceOp::sum); });
}

/// A View that a rank neither gives nor gets is not packed.
TEST_P(CollectiveCounting, ViewsWithoutAccessAreNotPacked) {
  if (ranks == 1) return; // one column lies in one piece
  const auto field = inside<double, Left>("field", Index<2>{3, static_cast<std::size_t>(ranks)});
  const auto& strided = field.view;
  const int root = ranks - 1;
  const auto expect = [](const auto& forms, const List& expected) {
    for (const bool blocking : {true, false}) {
      auto cost = cost_of([&] { blocking ? forms.blocking() : (void)forms.nonblocking().wait(); });
      auto& kernels = cost.tools.kernels;
      std::erase_if(kernels, [](const std::string& label) { return label.rfind("Kokkos::", 0) == 0; });
      EXPECT_EQ(kernels, expected) << forms.text << (blocking ? "" : ", non-blocking");
    }
  };
  const List none, pack{"comm/pack"}, unpack{"comm/unpack"};
  const auto& at_root = rank == root ? unpack : none;
  const std::vector<int> counts(ranks, 3);
  const auto sum = ReduceOp::sum;
  expect(KONTOR_FORMS(gather, comm, a, strided, root), at_root);
  expect(KONTOR_FORMS(gatherv, comm, a, strided, counts, root), at_root);
  expect(KONTOR_FORMS(reduce, comm, whole, strided, sum, root), at_root);
  expect(KONTOR_FORMS(scatter, comm, strided, a, root), rank == root ? pack : none);
  expect(KONTOR_FORMS(exscan, comm, whole, strided, sum), rank > 0 ? unpack : none);
}

} // namespace
} // namespace kontor::comm::test
