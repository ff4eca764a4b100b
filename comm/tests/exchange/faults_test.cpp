// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// MPI functions that fail: by order of the test, and truly.
#include "backend/deadline.hpp"
#include "faults.hpp"

namespace kontor::comm::test {
namespace {

class Faults : public FaultsInARing {
 protected:
  /// Two slots up the ring.
  Exchange<Ints> make() {
    Exchange<Ints> exchange(comm, "faulty");
    exchange.add(out, next, in, previous);
    exchange.add(Ints("out too", 3), next, Ints("in too", 3), previous);
    exchange.commit();
    return exchange;
  }
  std::string failed(const char* what, int peer, const char* view) {
    return fmt::format("exchange 'faulty': {} rank {} of View '{}' failed: {}", what, peer, view, other);
  }
};

TEST_F(Faults, MessagesOfAStep) {
  const auto expect = [&](const char* function, int call, const std::string& text) {
    auto exchange = make();
    EXPECT_EQ(text_of_failing(function, call, [&] { exchange.start(); }), text);
  };
  expect("MPI_Isend", 1, failed("MPI_Isend to", next, "out"));
  expect("MPI_Isend", 2, failed("MPI_Isend to", next, "out too"));
  expect("MPI_Irecv", 2, failed("MPI_Irecv from", previous, "in too"));
}

/// Parts agree over the whole: where one cannot be opened, all ranks hear of it.
TEST_F(Faults, OfOnePart) {
  const int part = comm.rank() % 2;
  for (const bool optional : {false, true}) {
    let_fail(part == 1 % comm.size() ? "MPI_Comm_dup" : "");
    const auto text = text_of<AgreedError>([&] {
      if (optional)
        (void)comm.split(part == 1 % comm.size() ? std::optional(1) : std::nullopt);
      else
        (void)comm.split(part);
    });
    let_fail("");
    EXPECT_EQ(text, "MPI_Comm_dup failed: " + other);
  }
}

/// Of a step that failed nothing more can be waited for: each call says what to do.
TEST_F(Faults, AfterAStepThatFailed) {
  for (const auto& [function, number] : {std::pair("MPI_Isend", 2), std::pair("MPI_Waitall", 1)}) {
    SCOPED_TRACE(function);
    auto exchange = make();
    EXPECT_NE(text_of_failing(function, number, [&] { run_step(exchange); }), "no error");
    EXPECT_EQ(text_of<CallError>([&] { exchange.start(); }),
              "exchange 'faulty': start() after a step that failed: commit() makes the plan anew");
    const auto expect_refused = [](const auto& call) {
      expect_facts(text_of<CallError>(call), {"after a step that failed", "commit()"});
    };
    expect_refused([&] { exchange.finish(); });
    expect_refused([&] { exchange.test(); });
    PMPI_Barrier(comm.native());
    exchange.commit();
    Kokkos::deep_copy(out, 7 + rank);
    run_step(exchange);
    EXPECT_EQ(in(1), 7 + previous);
  }
}

/// The other patterns: where a step fails, and where the requests of a plan cannot be made on one rank.
TEST_F(Faults, OtherPatterns) {
  const std::pair<Pattern, const char*> failing[] = {{Pattern::blocking, "MPI_Sendrecv"},
                                                     {Pattern::persistent, "MPI_Startall"},
                                                     {Pattern::neighborhood, "MPI_Ineighbor_alltoallw"},
                                                     {Pattern::rma, "MPI_Win_complete"}};
  for (const auto& [pattern, function] : failing) {
    SCOPED_TRACE(function);
    const Communicator own(MPI_COMM_WORLD, method("raw", Packing::kernel, pattern));
    auto exchange = ring_exchange(own, "faulty", out, in);
    const auto text = text_of_failing(function, 1, [&] { run_step(exchange); });
    expect_facts(text, {function + std::string(" ")});
    EXPECT_TRUE(text.starts_with("exchange 'faulty': ") && text.ends_with("failed: " + other)) << text;
    PMPI_Barrier(MPI_COMM_WORLD);
  }
}

TEST_F(Faults, RequestsOfAPlan) {
  const Communicator own(MPI_COMM_WORLD, method("raw", Packing::kernel, Pattern::persistent));
  Exchange<Ints> exchange(own, "faulty");
  exchange.add(out, next, in, previous);
  let_fail(own.rank() == own.size() - 1 ? "MPI_Send_init" : "");
  EXPECT_EQ(text_of<AgreedError>([&] { exchange.commit(); }), failed("MPI_Send_init to", 0, "out"));
  let_fail("");
}

TEST_F(Faults, WaitallOnASend) {
  auto exchange = make();
  exchange.start();
  EXPECT_EQ(text_of_failing("MPI_Waitall", 1, [&] { exchange.finish(); }),
            failed("MPI_Waitall on the send to", next, "out too"));
}

TEST_F(Faults, WaitallOnAReceive) {
  Exchange<Ints> exchange(comm, "faulty");
  exchange.add(out, comm.rank() == 0 ? no_rank : next, in, comm.rank() == 1 % comm.size() ? no_rank : previous);
  exchange.commit();
  exchange.start();
  const bool only_receives = comm.rank() == 0 && comm.size() > 1;
  const auto text = text_of_failing(only_receives ? "MPI_Waitall" : "", 1, [&] { exchange.finish(); });
  EXPECT_EQ(text, only_receives ? failed("MPI_Waitall on the receive from", previous, "in") : "no error");
}

/// A step that fails while the error unwinds the exchange: it must neither wait nor end the program.
TEST_F(Faults, UnwindingDoesNotWait) {
  EXPECT_EQ(text_of_failing("MPI_Isend", 2,
                            [&] {
                              auto exchange = make();
                              exchange.start();
                            }),
            failed("MPI_Isend to", next, "out too"));
}

TEST_F(Faults, Collectives) {
  const auto sum = ReduceOp::sum;
  expect_failing("MPI_Allreduce", "allreduce of a value, () int32, sum", [&] { allreduce(comm, 1, sum); });
  expect_failing("MPI_Allreduce", "allreduce of View 'in', (3) int32, sum", [&] { allreduce(comm, in, sum); });
  expect_failing("MPI_Bcast", "bcast of View 'in', (3) int32, root 0", [&] { bcast(comm, in, 0); });
  const std::vector<int> counts(ranks, 1);
  const Ints from("from", ranks), to("to", ranks);
  expect_failing("MPI_Alltoallv", fmt::format("alltoallv of View 'from' ({0}) into View 'to' ({0}), int32", ranks),
                 [&] { alltoallv(comm, from, counts, to, counts); });
}

/// A step that fails is over, and so is the Reduction; one that fails in the wait has come to its end.
TEST_F(Faults, StepsOfAReduction) {
  const auto expect_over = [](auto& reduction) {
    EXPECT_EQ(text_of<CallError>([&] { reduction.start(); }),
              "reduction 'dots': start() after a step that failed; make the Reduction anew");
    EXPECT_EQ(text_of<CallError>([&] { reduction.finish(); }), "reduction 'dots': finish() without start()");
  };
  Reduction never_begun(comm, "dots", in, ReduceOp::sum);
  EXPECT_EQ(text_of_failing("MPI_Iallreduce", 1, [&] { never_begun.start(); }),
            "reduction 'dots': MPI_Iallreduce of View 'in' failed: " + other);
  expect_over(never_begun);
  Reduction never_ended(comm, "dots", out, ReduceOp::sum);
  never_ended.start();
  EXPECT_EQ(text_of_failing("MPI_Wait", 1, [&] { never_ended.finish(); }),
            "reduction 'dots': MPI_Wait of View 'out' failed: " + other);
  expect_over(never_ended);
  Reduction anew(comm, "dots", in, ReduceOp::sum);
  Kokkos::deep_copy(in, 1);
  run_step(anew);
  EXPECT_EQ(in(2), comm.size());
}

/// While the error unwinds it, it neither waits nor ends the program.
TEST_F(Faults, UnwindingAReductionDoesNotWait) {
  EXPECT_EQ(text_of_failing("MPI_Wait", 1,
                            [&] {
                              Reduction reduction(comm, "dots", in, ReduceOp::sum);
                              run_step(reduction);
                            }),
            "reduction 'dots': MPI_Wait of View 'in' failed: " + other);
}

TEST_F(Faults, Handshake) {
  EXPECT_EQ(text_of_failing("MPI_Allreduce", 1, [&] { make(); }), "MPI_Allreduce failed: " + other);
  let_fail("MPI_Issend", 1); // maybe on one rank alone
  EXPECT_EQ(text_of<MpiError>([&] { make(); }), "MPI_Issend failed: " + other);
  let_fail("");
}

/// An MPI with tags 0 to 5, of which exchanges have some: the last rank has too many slots.
TEST_F(Faults, FewTags) {
  let_fail("MPI_Comm_get_attr, by few tags");
  const Communicator few(MPI_COMM_WORLD);
  let_fail("");
  ASSERT_EQ(few.tag_limit(), 5);
  const auto make = [&](int slots) {
    Exchange<Ints> exchange(few, "many");
    for (int k = 0; k < slots; ++k) exchange.add(Ints("out", k + 1), few.rank(), Ints("in", k + 1), few.rank());
    exchange.commit();
    run_step(exchange);
  };
  const bool last = few.rank() == few.size() - 1;
  for (const int slots : {4, 7}) {
    const auto text = text_of<UsageError>([&] { make(last ? slots : 1); });
    expect_facts(text, {"exchange 'many'", fmt::format("{} slots", slots), "at most 3", "MPI_TAG_UB is 5"});
  }
  make(last ? 3 : 1);
  make(2);
}

TEST_F(Faults, OwnRank) {
  let_fail("MPI_Comm_rank");
  EXPECT_EQ(text_of<MpiError>([&] { mpi::rank_of(comm.native()); }), "MPI_Comm_rank failed: " + other);
  let_fail("");
}

/// A real one: MPI gets less room for the message than the plan has.
TEST_F(Faults, TruncatedMessage) {
  if (comm.size() == 1) return;
  Communicator lonely(MPI_COMM_WORLD);
  Exchange<Ints> exchange(lonely, "faulty");
  exchange.add(out, comm.rank() == 0 ? 1 : no_rank, in, comm.rank() == 1 ? 0 : no_rank);
  exchange.commit();
  let_fail("MPI_Irecv, by a short one");
  exchange.start();
  let_fail("");
  EXPECT_EQ(text_of<MpiError>([&] { exchange.finish(); }),
            comm.rank() == 1 ? "exchange 'faulty': MPI_Waitall on the receive from rank 0 of View 'in' failed: " +
                                   mpi_text(MPI_ERR_TRUNCATE)
                             : "no error");
  PMPI_Barrier(comm.native());
}

} // namespace
} // namespace kontor::comm::test
