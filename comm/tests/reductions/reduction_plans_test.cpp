// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reductions that are made once: what they give, where they go, and how they are misused.
#include "collective_forms.hpp"
#include "host_collectives.hpp"
#include "reductions/repeated_reduction.hpp"

namespace kontor::comm::test {
namespace {

using ReductionPlans = OnRing;
std::shared_ptr<const Executor> make_host() { return executor_of(Kokkos::DefaultHostExecutionSpace()); }

/// Three steps, wherever elements are combined, with other work in between.
void expect_steps(const Communicator& comm, const Buffer& from, const Buffer& to, Watched in, Watched out) {
  HostCollectives collectives(comm.native());
  const auto host = make_host();
  for (const auto where : {detail::AccessibleTo::mpi, detail::AccessibleTo::host, detail::AccessibleTo::stream}) {
    SCOPED_TRACE(static_cast<int>(where));
    detail::RepeatedReduction method(comm, "steps", from, to, ReduceOp::sum, host, {where, &collectives});
    EXPECT_EQ(method.stream_ordered(), where == detail::AccessibleTo::stream);
    for (int step = 0; step < 3; ++step) {
      in.fill_small<double>(comm.rank() + step);
      out.fill_small<double>(comm.rank() + step + 1);
      const auto given = in.elements();
      auto expected = given;
      MPI_Allreduce(given.data(), expected.data(), in.count(), MPI_DOUBLE, MPI_SUM, comm.native());
      method.start();
      method.progress();
      EXPECT_EQ(allreduce(comm, 1, ReduceOp::sum), comm.size());
      method.finish();
      Kokkos::fence();
      out.expect(expected, "result");
      in.expect_unchanged("given");
    }
  }
}

/// In one piece or strided, at one end or both: elements meet by logical index.
TEST_F(ReductionPlans, LayoutsAndPlaces) {
  const auto expect = [&]<std::size_t rank>(const Index<rank>& extents) {
    for (const auto& [from, to] :
         {std::pair(Storage::left, Storage::inside_left), std::pair(Storage::inside_right, Storage::left),
          std::pair(Storage::odd, Storage::odd)}) {
      const auto in = stored<double>(from, "in", extents), out = stored<double>(to, "out", extents);
      expect_steps(comm, to_buffer(in.view), to_buffer(out.view), watched(in), watched(out));
    }
  };
  expect(Index<1>{5});
  expect(Index<2>{0, 4});
  expect(Index<3>{2, 3, 4});
}

/// Where a backend has some for one stream, a Reduction asks for its own, of its size.
TEST_F(ReductionPlans, ByCollectivesOfItsOwn) {
  const Doubles values("values", 3);
  FewCollectives few(comm.native());
  const auto buffer = to_buffer(values);
  const auto host = make_host();
  detail::RepeatedReduction method(comm, "own", buffer, buffer, ReduceOp::sum, host,
                                   {detail::AccessibleTo::stream, &few});
  EXPECT_EQ(few.bytes_of_own, 3 * sizeof(double));
  const int before = few.calls_of_own;
  for (int step = 0; step < 3; ++step) {
    Kokkos::deep_copy(values, step);
    method.start();
    method.finish();
    EXPECT_EQ(values(2), comm.size() * step);
  }
  EXPECT_EQ(few.calls_of_own, before + 3);
}

/// Several under way at once, finished in another order; one of them is a const View's.
TEST_F(ReductionPlans, SeveralAtOnce) {
  const Doubles a("a", 2), b("b", 1), c("c", 1);
  Reduction sums(comm, "sums", a, ReduceOp::sum);
  Reduction most(comm, "most", HostView<const double*>(b), c, ReduceOp::max);
  for (int step = 0; step < 5; ++step) {
    a(0) = 1;
    a(1) = step;
    b(0) = comm.rank() + step;
    sums.start();
    run_step(most);
    sums.finish();
    EXPECT_EQ(a(0), comm.size());
    EXPECT_EQ(a(1), comm.size() * step);
    EXPECT_EQ(c(0), comm.size() - 1 + step);
  }
}

TEST_F(ReductionPlans, MoreThanMpiCounts) {
  auto out = to_buffer(Doubles("out", 1));
  out.shape.extents[0] = std::int64_t{1} << 31;
  const auto make = [&] { detail::RepeatedReduction(comm, "long", out, out, ReduceOp::sum, make_host(), {}); };
  expect_error<AgreedError>(make, {"reduction 'long'", "2147483648 elements of View 'out'", "2147483647", "subviews"});
  --out.shape.extents[0];
  EXPECT_NO_THROW(make());
}

TEST_F(ReductionPlans, StepsOutOfTurn) {
  Reduction reduction(comm, "dots", Doubles("values", 2), ReduceOp::sum);
  expect_error<CallError>([&] { reduction.finish(); }, {"reduction 'dots': finish() without start()"});
  reduction.start();
  expect_error<CallError>([&] { reduction.start(); }, {"reduction 'dots': start() again before finish()"});
  reduction.finish();
  auto moved = std::move(reduction);
  expect_error<CallError>([&] { reduction.start(); }, {"moved from"}); // NOLINT
  run_step(moved);
}

/// What is wrong on one rank, or differs between two, is an error of all of them when the plan is made.
TEST_F(ReductionPlans, Disagreements) {
  const Doubles two("two", 2), three("three", 3);
  const auto sum = ReduceOp::sum;
  for (const auto check : all_levels) {
    const Communicator comm(MPI_COMM_WORLD, {.check = check, .timeout = 3});
    const auto expect = [&](const std::string& label, const Doubles& view, ReduceOp op,
                            std::initializer_list<std::string> facts) {
      if (last > 0) expect_error<AgreedError>([&] { Reduction(comm, label, view, op); }, facts);
    };
    expect("dots", is_last ? three : two, sum, {"rank 0 ", "(2) double", "(3) double", fmt::format("rank {}", last)});
    expect("dots", two, is_last ? ReduceOp::max : sum, {"sum", "max"});
    expect(is_last ? "other" : "dots", two, sum, {"'dots'", "'other'"});
    const auto expect_wrong = [&](auto make, const char* fact) {
      check == CheckLevel::cross_rank ? expect_error<UsageError>(make, {fact})
                                      : expect_error<AgreedError>(make, {fact});
    };
    const auto part = [&](int first) { return Kokkos::subview(three, std::pair(first, first + 2)); };
    expect_wrong([&] { Reduction(comm, "bits", two, ReduceOp::bitwise_and); }, "bitwise and is not defined for double");
    expect_wrong([&] { Reduction(comm, "shared", part(0), part(1), sum); }, "share memory");
    expect_wrong([&] { Reduction(comm, "sizes", two, three, sum); }, "(2)");
    expect_usable(comm);
  }
}

/// At check level `cross_rank` ranks that do not do the same hear of it. What cannot be done is an error at all levels.
TEST_F(ReductionPlans, OrderOfSteps) {
  const Communicator unpacked(MPI_COMM_WORLD, method("raw", Packing::none));
  const auto field = inside<double, Left>("field", Index<2>{3, 4});
  expect_error<AgreedError>([&] { Reduction(unpacked, "strided", field.view, ReduceOp::sum); }, {"packing is 'none'"});
  const Communicator comm(MPI_COMM_WORLD, {.check = CheckLevel::cross_rank, .timeout = 3});
  if (comm.size() == 1) GTEST_SKIP() << "one rank agrees with itself";
  const Doubles a("a", 1), b("b", 1);
  Reduction first(comm, "first", a, ReduceOp::sum);
  Reduction second(comm, "second", b, ReduceOp::sum);
  expect_error<AgreedError>([&] { rank == 0 ? first.start() : second.start(); }, {"start", "'first'", "'second'"});
  run_step(first);
}

/// It finishes its step with the other ranks, some of which finish theirs themselves.
TEST_F(ReductionPlans, DroppedInAStep) {
  const Doubles values("values", 1000);
  for (int step = 0; step < 3; ++step) {
    Kokkos::deep_copy(values, 1);
    {
      Reduction reduction(comm, "dropped", values, ReduceOp::sum);
      reduction.start();
      if (comm.rank() % 2) reduction.finish();
    }
    EXPECT_EQ(values(999), comm.size());
  }
  expect_usable(comm);
}

/// A rank that leaves by an exception waits for nobody, and MPI still has its Views.
TEST_F(ReductionPlans, LeftByAnException) {
  struct Gone {};
  try {
    const Doubles values("values", 1000);
    Kokkos::deep_copy(values, 1);
    Reduction reduction(comm, "left", values, ReduceOp::sum);
    if (comm.rank() == 0) MPI_Barrier(MPI_COMM_WORLD); // the others have gone
    reduction.start();
    if (comm.rank() != 0) throw Gone();
    if (comm.size() == 1) reduction.finish();
  } catch (const Gone&) {
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

} // namespace
} // namespace kontor::comm::test
