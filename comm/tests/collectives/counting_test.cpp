// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Messages and collective calls of contiguous Views make the MPI calls of the same code in plain MPI, and nothing else.
#include "collective_forms.hpp"
#include "cost.hpp"

#include <cctype>

namespace kontor::comm::test {
namespace {

using Block = HostView<double**, Left>;

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

  /// Blocking, a call makes one call of MPI_Name; non-blocking, one of MPI_Iname and MPI_Wait.
  void expect_one(const Forms& forms) const {
    SCOPED_TRACE(forms.text);
    std::string name(forms.text, std::strchr(forms.text, '('));
    const auto nonblocking = "MPI_I" + name;
    const auto allocations = name.ends_with('v') ? some : Allocations::none;
    name[0] = static_cast<char>(std::toupper(name[0]));
    expect_calls({{"MPI_" + name, 1}}, allocations, [&] { forms.blocking(); });
    if (!forms.has_nonblocking()) return;
    expect_calls({{nonblocking, 1}, {"MPI_Wait", 1}}, allocations, [&] { forms.nonblocking(true); });
  }
};
INSTANTIATE_TEST_SUITE_P(Levels, CallCounting, testing::Values(CheckLevel::off, CheckLevel::local));

TEST_P(CallCounting, Collectives) {
  expect_one(KONTOR_FORMS(barrier, comm));
  const auto visit = [&](std::size_t, bool, const Mpi&, const Forms& forms) { expect_one(forms); };
  each_reduction(comm, a, b, TwinOp{ReduceOp::sum, MPI_SUM, MPI_DOUBLE}, visit);
  each_call_of_parts(comm, a, whole, other, visit);
  expect_calls({{"MPI_Allreduce", 1}}, [&] { allreduce(comm, 1.0, ReduceOp::sum); });
  expect_calls({{"MPI_Bcast", 1}}, [&] { bcast(comm, 1.5, 0); });
  expect_calls({{"MPI_Gather", 1}}, some, [&] { gather(comm, 1.5, 0); });
  expect_calls({{"MPI_Allgather", 1}}, some, [&] { allgather(comm, 1.5); });
}

TEST_P(CallCounting, ReductionPlans) {
  const auto expect_step = [](auto reduction) {
    ToolsRecord tools;
    tools.fences = {"comm/packed"};
    tools.regions = {"comm/post", "comm/wait"};
    expect_calls(
        {{"MPI_Iallreduce", 1}, {"MPI_Wait", 1}}, Allocations::none, [&] { run_step(reduction); }, tools);
  };
  expect_step(Reduction(comm, "in place", a, ReduceOp::sum));
  expect_step(Reduction(comm, "a long label of a reduction", a, b, ReduceOp::max));
}

/// MPI gets the operation and the type of a functor's elements with the first call. They go with the communicator, also
/// where an error passes it, which itself is then the other ranks' too.
TEST_P(CallCounting, Functors) {
  const HostView<Pair*> pairs("pairs", 4);
  const auto heavier = commutative([](const Pair& x, const Pair& y) { return x.weight < y.weight ? y : x; });
  for (const bool by_error : {false, true}) {
    start_counting_mpi();
    try {
      const Communicator own(MPI_COMM_WORLD, comm.options());
      allreduce(own, pairs, heavier);
      auto calls = stop_counting_mpi();
      EXPECT_EQ((std::array{calls["MPI_Op_create"], calls["MPI_Type_contiguous"], calls["MPI_Type_commit"]}),
                (std::array{1, 1, 1}));
      expect_calls({{"MPI_Allreduce", 1}}, [&] { allreduce(own, pairs, heavier); });
      start_counting_mpi();
      if (by_error) throw MpiError("left");
    } catch (const MpiError&) {
    }
    auto calls = stop_counting_mpi();
    EXPECT_EQ((std::array{calls["MPI_Op_free"], calls["MPI_Type_free"]}), (std::array{1, 1}));
    EXPECT_EQ(calls["MPI_Comm_free"] == 0, by_error);
  }
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

TEST_P(CallCounting, Messages) {
  expect_calls({{"MPI_Sendrecv", 1}}, [&] { sendrecv(comm, out, next, in, previous, 1); });
  expect_calls({{"MPI_Irecv", 1}, {"MPI_Send", 1}, {"MPI_Wait", 1}}, [&] {
    auto request = irecv(comm, in, previous);
    send(comm, HostView<const double**, Left>(out), next);
    request.wait();
  });
  expect_calls({{"MPI_Isend", 1}, {"MPI_Recv", 1}, {"MPI_Barrier", 1}, {"MPI_Test", 1}}, [&] {
    auto request = isend(comm, out, next);
    recv(comm, in, any_source, any_tag);
    barrier(comm);
    EXPECT_TRUE(request.test().has_value());
  });
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
  const Plane array("array", 4, 5);
  SparseMessages<HostView<double*, Stride>> messages;
  for (int r = 0; r < ranks; ++r) messages.emplace_back(r, Kokkos::subview(array, Kokkos::ALL, r % 5));
  const auto cost = cost_of([&] { (void)sparse_alltoall(comm, messages); });
  EXPECT_EQ(std::ranges::count(cost.tools.fences, "comm/packed"), 1);
  EXPECT_EQ(std::ranges::count(cost.tools.kernels, "comm/pack"), ranks);
}

} // namespace
} // namespace kontor::comm::test
