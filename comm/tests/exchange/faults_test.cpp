// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// MPI functions that fail: by order of the test, and truly.
#include "base/deadline.hpp"
#include "comm_test.hpp"

namespace kontor::comm::test {

/// In faults.cpp. The function is to fail on this rank: at its n-th call from now, and once. An empty name: none is.
void let_fail(const char* function, int call = 1);
/// Whether it has.
bool has_failed();

namespace {

/// The text of the MpiError of an operation in which that happens.
template <class Operation>
std::string text_of_failing(const char* function, int call, Operation operation) {
  let_fail(function, call);
  const auto text = text_of<MpiError>(operation);
  let_fail("");
  return text;
}

/// All ranks fail alike, so none of them waits for another.
class Faults : public OnRing {
 protected:
  Ints out{"out", 3};
  Ints in{"in", 3};
  std::string other = mpi_text(MPI_ERR_OTHER);

  /// The function's first call fails, and the error names both.
  template <class Operation>
  void expect_failing(const char* function, const std::string& what, Operation operation) {
    EXPECT_EQ(text_of_failing(function, 1, operation), what + ": " + function + " failed: " + other);
  }

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
  std::string to(const char* operation, int tag) {
    return fmt::format("{} to rank {} (tag {}) of View 'out', (3) int32", operation, next, tag);
  }
  std::string from(const char* operation, int tag) {
    return fmt::format("{} from rank {} (tag {}) of View 'in', (3) int32", operation, previous, tag);
  }

  void TearDown() override {
    PMPI_Barrier(comm.native());
    expect_usable(comm);
  }
};

/// Also while the error unwinds what fails: it must neither wait nor end the program.
TEST_F(Faults, OfAStep) {
  const auto expect = [&](const char* function, int call, const std::string& text) {
    const auto step = [&] {
      auto exchange = make();
      run_step(exchange);
    };
    EXPECT_EQ(text_of_failing(function, call, step), text);
  };
  expect("MPI_Isend", 1, failed("MPI_Isend to", next, "out"));
  expect("MPI_Isend", 2, failed("MPI_Isend to", next, "out too"));
  expect("MPI_Irecv", 2, failed("MPI_Irecv from", previous, "in too"));
  expect("MPI_Waitall", 1, failed("MPI_Waitall on the send to", next, "out too"));
  const auto reduce = [&] {
    Reduction reduction(comm, "dots", in, ReduceOp::sum);
    run_step(reduction);
  };
  EXPECT_EQ(text_of_failing("MPI_Wait", 1, reduce), "reduction 'dots': MPI_Wait of View 'in' failed: " + other);
}

/// The other ranks may be gone: nothing that they take part in is called.
TEST_F(Faults, OfACommunicatorThatEndsAlone) {
  let_fail("MPI_Comm_free");
  EXPECT_EQ(text_of<CallError>([] {
              const Communicator own(MPI_COMM_WORLD);
              throw CallError("left alone");
            }),
            "left alone");
  EXPECT_FALSE(has_failed());
  let_fail("");
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
      expect_error<CallError>(call, {"after a step that failed", "commit()"});
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
  const Communicator own(MPI_COMM_WORLD, method("raw", Packing::kernel, Pattern::persistent));
  Exchange<Ints> exchange(own, "faulty");
  exchange.add(out, next, in, previous);
  let_fail(rank == last ? "MPI_Send_init" : "");
  EXPECT_EQ(text_of<AgreedError>([&] { exchange.commit(); }), failed("MPI_Send_init to", 0, "out"));
  let_fail("");
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

TEST_F(Faults, CollectivesAndHandshake) {
  const auto sum = ReduceOp::sum;
  expect_failing("MPI_Allreduce", "allreduce of a value, () int32, sum", [&] { allreduce(comm, 1, sum); });
  expect_failing("MPI_Allreduce", "allreduce of View 'in', (3) int32, sum", [&] { allreduce(comm, in, sum); });
  expect_failing("MPI_Bcast", "bcast of View 'in', (3) int32, root 0", [&] { bcast(comm, in, 0); });
  const std::vector<int> counts(ranks, 1);
  const Ints from("from", ranks), to("to", ranks);
  expect_failing("MPI_Alltoallv",
                 fmt::format("alltoallv of View 'from', ({0}) int32, into View 'to', ({0}) int32, int32", ranks),
                 [&] { alltoallv(comm, from, counts, to, counts); });
  EXPECT_EQ(text_of_failing("MPI_Comm_rank", 1, [&] { mpi::rank_of(comm.native()); }),
            "MPI_Comm_rank failed: " + other);
  EXPECT_EQ(text_of_failing("MPI_Allreduce", 1, [&] { make(); }), "MPI_Allreduce failed: " + other);
  let_fail("MPI_Issend", 1); // maybe on one rank alone
  EXPECT_EQ(text_of<MpiError>([&] { make(); }), "MPI_Issend failed: " + other);
  let_fail("");
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

/// Real ones: the message is longer than the View, and MPI gets less room for it than the plan has.
TEST_F(Faults, TruncatedMessages) {
  const Ints longer("longer", 10);
  auto sending = isend(comm, longer, next);
  EXPECT_EQ(text_of<MpiError>([&] { recv(comm, in, previous); }),
            from("recv", 0) + ": MPI_Recv failed: " + mpi_text(MPI_ERR_TRUNCATE));
  sending.wait();
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

TEST_F(Faults, OfMessages) {
  auto sending = isend(comm, out, next, 5);
  expect_failing("MPI_Recv", from("recv", 5), [&] { recv(comm, in, previous, 5); });
  sending.wait();
  auto receiving = irecv(comm, in, previous, 6);
  expect_failing("MPI_Send", to("send", 6), [&] { send(comm, out, next, 6); });
  receiving.wait();
  expect_failing("MPI_Sendrecv", to("sendrecv", 0) + ", " + from("sendrecv", 0),
                 [&] { sendrecv(comm, out, next, in, previous); });
}

/// A receive that has begun already is taken back. At check level `cross_rank` other functions are called.
TEST_F(Faults, OfWhatBegins) {
  expect_failing("MPI_Irecv", from("irecv", 0), [&] { irecv(comm, in, previous).wait(); });
  expect_failing("MPI_Isend", to("isend", 0), [&] { isend(comm, out, next).wait(); });
  expect_failing("MPI_Probe", "probe from rank 0 (tag 3)", [&] { probe(comm, 0, 3); });
  expect_failing("MPI_Iprobe", "iprobe from any rank (any tag)", [&] { iprobe(comm); });
  const Communicator checked(MPI_COMM_WORLD, {.check = CheckLevel::cross_rank});
  expect_failing("MPI_Issend", to("isend", 0), [&] { isend(checked, out, next).wait(); });
  expect_failing("MPI_Issend", to("sendrecv", 2), [&] { sendrecv(checked, out, next, in, previous, 2); });
  expect_failing("MPI_Irecv", from("irecv", 0), [&] { irecv(checked, in, previous).wait(); });
}

TEST_F(Faults, OfWaits) {
  auto receiving = irecv(comm, in, previous, 4);
  send(comm, out, next, 4);
  expect_failing("MPI_Wait", from("irecv", 4), [&] { receiving.wait(); });
  EXPECT_FALSE(receiving.active());

  receiving = irecv(comm, in, previous);
  send(comm, out, next);
  expect_failing("MPI_Test", from("irecv", 0), [&] {
    while (!receiving.test()) {
    }
  });
  EXPECT_EQ(text_of<MpiError>([&] { receiving.wait(); }), from("irecv", 0) + ": MPI_Test failed: " + other);
}

TEST_F(Faults, OfPools) {
  for (const std::string function : {"MPI_Waitall", "MPI_Waitany"}) {
    SCOPED_TRACE(function);
    std::vector<Request<Ints>> pool;
    pool.push_back(isend(comm, out, next, 3));
    pool.push_back(irecv(comm, in, previous, 3));
    MPI_Barrier(comm.native());
    const auto text = text_of_failing(function.c_str(), 1, [&] {
      if (function == "MPI_Waitall") wait_all(pool);
      if (function == "MPI_Waitany") wait_any(pool);
    });
    const auto failed = ": " + function + " failed: " + other;
    EXPECT_TRUE(text == from("irecv", 3) + failed || text == to("isend", 3) + failed) << text;
    EXPECT_FALSE(pool[0].active() && pool[1].active());
    EXPECT_TRUE(pool[0].finished() || function != "MPI_Waitall");
    wait_all(pool);
  }
}

} // namespace
} // namespace kontor::comm::test
