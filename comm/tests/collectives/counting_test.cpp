// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Messages and collective calls of contiguous Views make the MPI calls of the same code in plain MPI, and nothing else.
#include "collective_forms.hpp"
#include "cost.hpp"

#include <cctype>

namespace kontor::comm::test {
namespace {

using Block = HostView<double**, Left>;
using Pairs = HostView<Pair*>;

/// These calls make the arrays of counts and places that MPI takes, or what they return.
constexpr auto some = Allocations::some;

class CallCounting : public AtLevel {
 protected:
  Doubles a{"a view with a label", 3};
  Doubles b{"b", 3};
  Block whole{"whole", 3, static_cast<std::size_t>(ranks)};
  Block other{"other", 3, static_cast<std::size_t>(ranks)};
  Block out{"out", 4, 5};
  Block in{"in", 4, 5};

  /// Blocking, the call makes one call of MPI_Name; non-blocking, one of MPI_Iname and MPI_Wait.
  void expect_one(std::string name, const Forms& forms, Allocations allocations = Allocations::none) {
    SCOPED_TRACE(forms.text);
    const auto nonblocking = "MPI_I" + name;
    name[0] = static_cast<char>(std::toupper(name[0]));
    expect_calls({{"MPI_" + name, 1}}, allocations, [&] { forms.blocking(); });
    if (!forms.has_nonblocking()) return;
    expect_calls({{nonblocking, 1}, {"MPI_Wait", 1}}, allocations, [&] { forms.nonblocking(true); });
  }
};
INSTANTIATE_TEST_SUITE_P(Levels, CallCounting, testing::Values(CheckLevel::off, CheckLevel::local));

TEST_P(CallCounting, Reductions) {
  const auto sum = ReduceOp::sum;
  expect_one("allreduce", KONTOR_FORMS(allreduce, comm, a, sum));
  expect_one("allreduce", KONTOR_FORMS(allreduce, comm, a, b, sum));
  expect_calls({{"MPI_Allreduce", 1}}, [&] { allreduce(comm, 1.0, sum); });
  expect_one("reduce", KONTOR_FORMS(reduce, comm, a, sum, 0));
  expect_one("reduce", KONTOR_FORMS(reduce, comm, a, b, sum, 0));
  expect_one("scan", KONTOR_FORMS(scan, comm, a, b, sum));
  expect_one("exscan", KONTOR_FORMS(exscan, comm, a, sum));
  expect_one("exscan", KONTOR_FORMS(exscan, comm, a, b, sum));
}

TEST_P(CallCounting, ReductionPlans) {
  Reduction in_place(comm, "in place", a, ReduceOp::sum);
  Reduction both(comm, "a long label of a reduction", a, b, ReduceOp::max);
  const auto expect_step = [&](auto& reduction) {
    ToolsRecord tools;
    tools.fences = {"comm/packed"};
    tools.regions = {"comm/post", "comm/wait"};
    expect_calls(
        {{"MPI_Iallreduce", 1}, {"MPI_Wait", 1}}, Allocations::none, [&] { run_step(reduction); }, tools);
  };
  expect_step(in_place);
  expect_step(both);
}

/// MPI gets the operation and the type of a functor's elements with the first call.
TEST_P(CallCounting, Functors) {
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

  start_counting_mpi(); // one that an error passes frees what is this rank's alone
  try {
    const Communicator left(MPI_COMM_WORLD, comm.options());
    allreduce(left, pairs, heavier);
    throw MpiError("left");
  } catch (const MpiError&) {
    calls = stop_counting_mpi();
  }
  EXPECT_EQ(calls["MPI_Op_free"], 1);
  EXPECT_EQ(calls["MPI_Type_free"], 1);
  EXPECT_EQ(calls["MPI_Comm_free"], 0);
}

TEST_P(CallCounting, Parts) {
  expect_one("bcast", KONTOR_FORMS(bcast, comm, whole, 0));
  expect_one("gather", KONTOR_FORMS(gather, comm, a, whole, 0));
  expect_one("scatter", KONTOR_FORMS(scatter, comm, whole, a, 0));
  expect_one("allgather", KONTOR_FORMS(allgather, comm, a, whole));
  expect_one("allgather", KONTOR_FORMS(allgather, comm, whole));
  expect_one("alltoall", KONTOR_FORMS(alltoall, comm, whole, other));
  expect_one("barrier", KONTOR_FORMS(barrier, comm));
  const std::vector<int> counts(ranks, 3);
  expect_one("gatherv", KONTOR_FORM(gatherv, comm, a, whole, counts, 0), some);
  expect_one("scatterv", KONTOR_FORM(scatterv, comm, whole, counts, a, 0), some);
  expect_one("allgatherv", KONTOR_FORM(allgatherv, comm, a, whole, counts), some);
  expect_one("alltoallv", KONTOR_FORM(alltoallv, comm, whole, counts, other, counts), some);
  expect_calls({{"MPI_Bcast", 1}}, [&] { bcast(comm, 1.5, 0); });
  expect_calls({{"MPI_Gather", 1}}, some, [&] { gather(comm, 1.5, 0); });
  expect_calls({{"MPI_Allgather", 1}}, some, [&] { allgather(comm, 1.5); });
}

/// Where nothing is checked no problem is looked for, nor put in words.
TEST(CallCountingOff, NoProblems) {
  const Communicator comm(MPI_COMM_WORLD, {.check = CheckLevel::off});
  const Doubles part("part", 3), whole("whole", 3 * comm.size() + 1);
  const auto cost = cost_of([&] {
    allgather(comm, part, whole);
    gather(comm, part, whole, 0);
    scatter(comm, whole, part, 0);
  });
  EXPECT_EQ(cost.allocations, 0);
}

/// One kernel and one copy at each end, which are gone afterwards.
TEST_P(CallCounting, StridedViewsArePacked) {
  const auto field = inside<double, Left>("field", Index<2>{3, 4});
  expect_packed({{"MPI_Allreduce", 1}}, [&] { allreduce(comm, field.view, ReduceOp::sum); });
  const Plane array("array", 4, 5);
  const auto column = [&](int j) { return Kokkos::subview(array, Kokkos::ALL, j); };
  expect_packed({{"MPI_Sendrecv", 1}}, [&] { sendrecv(comm, column(1), next, column(2), previous); });
}

TEST_P(CallCounting, ViewsWithoutAccessAreNotPacked) {
  if (ranks == 1) return; // one column lies in one piece
  const auto field = inside<double, Left>("field", Index<2>{3, static_cast<std::size_t>(ranks)});
  const auto& strided = field.view;
  const int root = ranks - 1;
  const auto expect = [](const auto& forms, const List& expected) {
    for (const bool blocking : {true, false}) {
      auto cost = cost_of([&] { blocking ? forms.blocking() : forms.nonblocking(true); });
      auto& kernels = cost.tools.kernels;
      std::erase_if(kernels, [](const std::string& label) { return label.rfind("Kokkos::", 0) == 0; });
      EXPECT_EQ(kernels, expected) << forms.text << (blocking ? "" : ", non-blocking");
    }
  };
  const List none, pack{"comm/pack"}, unpack{"comm/unpack"};
  const auto& at_root = rank == root ? unpack : none;
  const auto sum = ReduceOp::sum;
  expect(KONTOR_FORMS(gather, comm, a, strided, root), at_root);
  expect(KONTOR_FORMS(reduce, comm, whole, strided, sum, root), at_root);
  expect(KONTOR_FORMS(scatter, comm, strided, a, root), rank == root ? pack : none);
  expect(KONTOR_FORMS(exscan, comm, whole, strided, sum), rank > 0 ? unpack : none);
}

TEST_P(CallCounting, Blocking) {
  expect_calls({{"MPI_Sendrecv", 1}}, [&] { sendrecv(comm, out, next, in, previous, 1); });
  expect_calls({{"MPI_Irecv", 1}, {"MPI_Send", 1}, {"MPI_Wait", 1}}, [&] {
    auto request = irecv(comm, in, previous);
    send(comm, HostView<const double**, Left>(out), next);
    request.wait();
  });
  expect_calls({{"MPI_Isend", 1}, {"MPI_Recv", 1}, {"MPI_Wait", 1}}, [&] {
    auto request = isend(comm, out, next);
    recv(comm, in, any_source, any_tag);
    request.wait();
  });
}

TEST_P(CallCounting, Nonblocking) {
  expect_calls({{"MPI_Irecv", 2}, {"MPI_Isend", 2}, {"MPI_Waitall", 1}}, [&] {
    std::array<Request<Block>, 4> pool{irecv(comm, in, previous, 0), irecv(comm, in, previous, 1),
                                       isend(comm, out, next, 0), isend(comm, out, next, 1)};
    wait_all(pool);
    for (auto& request : pool) request.wait();
  });
  expect_calls({{"MPI_Irecv", 1}, {"MPI_Isend", 1}, {"MPI_Waitany", 2}}, [&] {
    std::array<Request<Block>, 2> pool{irecv(comm, in, previous), isend(comm, out, next)};
    wait_any(pool);
    wait_any(pool);
  });
}

TEST_P(CallCounting, Tests) {
  expect_calls({{"MPI_Isend", 1}, {"MPI_Recv", 1}, {"MPI_Barrier", 1}, {"MPI_Test", 1}}, [&] {
    auto request = isend(comm, out, next);
    recv(comm, in, previous);
    barrier(comm);
    EXPECT_TRUE(request.test().has_value());
  });
  const MpiCalls calls{{"MPI_Irecv", 2}, {"MPI_Isend", 2}, {"MPI_Waitall", 2}, {"MPI_Barrier", 1}, {"MPI_Testall", 1}};
  expect_calls(calls, [&] {
    std::array<Request<Block>, 2> pool{irecv(comm, in, previous, 0), irecv(comm, in, previous, 1)};
    auto first = isend(comm, out, next, 0);
    auto second = isend(comm, out, next, 1);
    wait_all(first, second);
    barrier(comm);
    if (test_all(pool)) // not on every MPI at once
      MPI_Waitall(0, nullptr, MPI_STATUSES_IGNORE);
    else
      wait_all(pool);
  });
}

TEST_P(CallCounting, NoRank) {
  const Plane array("array", 4, 5);
  const auto column = Kokkos::subview(array, Kokkos::ALL, 1);
  const auto cost = cost_of([&] {
    send(comm, column, no_rank);
    recv(comm, column, no_rank);
    sendrecv(comm, column, no_rank, column, no_rank);
    irecv(comm, column, no_rank).wait();
    isend(comm, column, no_rank).wait();
  });
  EXPECT_EQ(cost.tools.allocations, List{});
  EXPECT_EQ(cost.tools.kernels, List{});
  EXPECT_EQ(cost.tools.fences, List{});
}

TEST_P(CallCounting, SparseAlltoallFencesOnce) {
  using Column = HostView<double*, Stride>;
  const Plane array("array", 4, 5);
  SparseMessages<Column> messages;
  for (int r = 0; r < ranks; ++r) messages.emplace_back(r, Kokkos::subview(array, Kokkos::ALL, r % 5));
  const auto cost = cost_of([&] { (void)sparse_alltoall(comm, messages); });
  EXPECT_EQ(std::ranges::count(cost.tools.fences, "comm/packed"), 1);
  EXPECT_EQ(std::ranges::count(cost.tools.kernels, "comm/pack"), ranks);
}

TEST_P(CallCounting, SendWithExtents) {
  if (ranks == 1) return;
  const auto send_to_1 = [&] {
    if (rank == 0) send_with_extents(comm, out, 1);
  };
  EXPECT_EQ(cost_of(send_to_1).mpi, rank == 0 ? (MpiCalls{{"MPI_Send", 2}}) : MpiCalls{});
  for (int n = 0; n < 2 && rank == 1; ++n) EXPECT_EQ(recv_with_extents<Block>(comm, 0).size(), 20u);
}

} // namespace
} // namespace kontor::comm::test
