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

/// All ranks fail alike, so none of them waits for another.
class Faults : public OnRing {
 protected:
  Ints out{"out", 3};
  Ints in{"in", 3};
  std::string other = mpi_text(MPI_ERR_OTHER);
  std::string next_of_out = fmt::format("to rank {} of View 'out", next);
  std::string previous_of_in = fmt::format("from rank {} of View 'in", previous);

  /// At its n-th call the function fails, which the error says, and what it was for.
  void expect_failing(const char* function, const std::string& what, const Action& operation, int call = 1) const {
    let_fail(function, call);
    const auto text = text_of<MpiError>(operation);
    let_fail("");
    expect_facts(text, {what, function + std::string(" ")});
    EXPECT_TRUE(text.ends_with(" failed: " + other)) << text;
  }

  /// Two slots up the ring.
  Exchange<Ints> make() const {
    Exchange<Ints> exchange(comm, "faulty");
    exchange.add(out, next, in, previous);
    exchange.add(Ints("out too", 3), next, Ints("in too", 3), previous);
    exchange.commit();
    return exchange;
  }
  std::string to(const char* operation, int tag) const {
    return fmt::format("{} to rank {} (tag {}) of View 'out', (3) int32", operation, next, tag);
  }
  std::string from(const char* operation, int tag) const {
    return fmt::format("{} from rank {} (tag {}) of View 'in', (3) int32", operation, previous, tag);
  }

  void TearDown() override {
    PMPI_Barrier(comm.native());
    expect_usable(comm);
  }
};

/// Also while the error unwinds what fails: it must neither wait nor end the program.
TEST_F(Faults, OfAStep) {
  const auto step = [&] {
    auto exchange = make();
    run_step(exchange);
  };
  const std::string faulty = "exchange 'faulty': ";
  expect_failing("MPI_Isend", faulty + "MPI_Isend " + next_of_out + "'", step);
  expect_failing("MPI_Isend", faulty + "MPI_Isend " + next_of_out + " too'", step, 2);
  expect_failing("MPI_Irecv", faulty + "MPI_Irecv " + previous_of_in + " too'", step, 2);
  expect_failing("MPI_Waitall", faulty + "MPI_Waitall on the send " + next_of_out + " too'", step);
  expect_failing("MPI_Allreduce", "MPI_Allreduce failed", step);
  expect_failing("MPI_Issend", "MPI_Issend failed", step); // maybe on one rank alone
  Exchange<Ints> exchange(comm, "faulty");
  exchange.add(out, rank == 0 ? no_rank : next, in, rank == 1 % ranks ? no_rank : previous);
  exchange.commit();
  exchange.start();
  if (rank > 0 || ranks == 1) return exchange.finish();
  expect_failing("MPI_Waitall", "MPI_Waitall on the receive " + previous_of_in + "'", [&] { exchange.finish(); });
}

/// The other ranks may be gone: nothing that they take part in is called.
TEST_F(Faults, OfACommunicatorThatEndsAlone) {
  let_fail("MPI_Comm_free");
  const auto leave = [] {
    const Communicator own(MPI_COMM_WORLD);
    throw CallError("left alone");
  };
  expect_error<CallError>(leave, {"left alone"});
  EXPECT_FALSE(has_failed());
  let_fail("");
}

/// Parts agree over the whole: where one cannot be opened, all ranks hear of it.
TEST_F(Faults, OfOnePart) {
  const bool fails = rank % 2 == 1 % ranks;
  for (const bool optional : {false, true}) {
    let_fail(fails ? "MPI_Comm_dup" : "");
    expect_error<AgreedError>(
        [&] {
          if (optional)
            (void)comm.split(fails ? std::optional(1) : std::nullopt);
          else
            (void)comm.split(rank % 2);
        },
        {"MPI_Comm_dup failed: " + other});
  }
  let_fail("");
}

/// Of a step that failed nothing more can be waited for: each call says what to do.
TEST_F(Faults, AfterAStepThatFailed) {
  for (const auto& [function, call] : {std::pair("MPI_Isend", 2), std::pair("MPI_Waitall", 1)}) {
    SCOPED_TRACE(function);
    auto exchange = make();
    expect_failing(
        function, "", [&] { run_step(exchange); }, call);
    expect_error<CallError>([&] { exchange.start(); }, {"'faulty': start() after a step that failed: commit() makes"});
    expect_error<CallError>([&] { exchange.finish(); }, {"after a step that failed", "commit()"});
    expect_error<CallError>([&] { exchange.test(); }, {"after a step that failed", "commit()"});
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
                                                     {Pattern::alltoall, "MPI_Ialltoallv"},
                                                     {Pattern::rma, "MPI_Win_complete"}};
  for (const auto& [pattern, function] : failing) {
    SCOPED_TRACE(function);
    const Communicator own(MPI_COMM_WORLD, method("raw", Packing::kernel, pattern));
    auto exchange = ring_exchange(own, "faulty", out, in);
    expect_failing(function, "exchange 'faulty': ", [&] { run_step(exchange); });
    PMPI_Barrier(MPI_COMM_WORLD);
  }
  const Communicator own(MPI_COMM_WORLD, method("raw", Packing::kernel, Pattern::persistent));
  let_fail(is_last ? "MPI_Send_init" : "");
  expect_error<AgreedError>([&] { ring_exchange(own, "faulty", out, in); },
                            {"exchange 'faulty': MPI_Send_init to rank 0 of View 'out' failed: " + other});
  let_fail("");
}

TEST_F(Faults, OfCollectives) {
  const auto sum = ReduceOp::sum;
  const std::vector<int> counts(ranks, 1);
  const Ints all("all", ranks), to("to", ranks);
  expect_failing("MPI_Allreduce", "allreduce of a value, () int32, sum: ", [&] { allreduce(comm, 1, sum); });
  expect_failing("MPI_Allreduce", "allreduce of View 'in', (3) int32, sum: ", [&] { allreduce(comm, in, sum); });
  expect_failing("MPI_Bcast", "bcast of View 'in', (3) int32, root 0: ", [&] { bcast(comm, in, 0); });
  expect_failing("MPI_Alltoallv", fmt::format("alltoallv of View 'all', ({0}) int32, into View 'to', ({0})", ranks),
                 [&] { alltoallv(comm, all, counts, to, counts); });
  expect_failing("MPI_Comm_rank", "", [&] { mpi::rank_of(comm.native()); });
}

/// A step that fails is over, and so is the Reduction; one that fails in the wait has come to its end.
TEST_F(Faults, StepsOfAReduction) {
  for (const auto* function : {"MPI_Iallreduce", "MPI_Wait"}) {
    Reduction reduction(comm, "dots", in, ReduceOp::sum);
    expect_failing(function, fmt::format("reduction 'dots': {} of View 'in'", function), [&] { run_step(reduction); });
    expect_error<CallError>([&] { reduction.start(); },
                            {"'dots': start() after a step that failed; make the Reduction"});
    expect_error<CallError>([&] { reduction.finish(); }, {"reduction 'dots': finish() without start()"});
  }
  Reduction anew(comm, "dots", in, ReduceOp::sum);
  Kokkos::deep_copy(in, 1);
  run_step(anew);
  EXPECT_EQ(in(2), ranks);
}

/// An MPI with tags 0 to 5, of which exchanges have some: the last rank has too many slots.
TEST_F(Faults, FewTags) {
  let_fail("MPI_Comm_get_attr, by few tags");
  const Communicator few(MPI_COMM_WORLD);
  let_fail("");
  ASSERT_EQ(few.tag_limit(), 5);
  const auto make = [&](int slots) {
    Exchange<Ints> exchange(few, "many");
    for (int k = 0; k < slots; ++k) exchange.add(Ints("out", k + 1), rank, Ints("in", k + 1), rank);
    exchange.commit();
    run_step(exchange);
  };
  for (const int slots : {4, 7})
    expect_error<UsageError>([&] { make(is_last ? slots : 1); },
                             {"exchange 'many'", fmt::format("{} slots", slots), "at most 3", "MPI_TAG_UB is 5"});
  make(is_last ? 3 : 1);
  make(2);
}

/// Real ones: the message is longer than the View, and MPI gets less room for it than the plan has.
TEST_F(Faults, TruncatedMessages) {
  auto sending = isend(comm, Ints("longer", 10), next);
  expect_error<MpiError>([&] { recv(comm, in, previous); },
                         {from("recv", 0) + ": MPI_Recv failed: " + mpi_text(MPI_ERR_TRUNCATE)});
  sending.wait();
  if (ranks == 1) return;
  Communicator lonely(MPI_COMM_WORLD);
  Exchange<Ints> exchange(lonely, "faulty");
  exchange.add(out, rank == 0 ? 1 : no_rank, in, rank == 1 ? 0 : no_rank);
  exchange.commit();
  let_fail("MPI_Irecv, by a short one");
  exchange.start();
  let_fail("");
  if (rank == 1)
    expect_error<MpiError>([&] { exchange.finish(); },
                           {"exchange 'faulty': MPI_Waitall on the receive from rank 0 of View 'in' failed: " +
                            mpi_text(MPI_ERR_TRUNCATE)});
  else
    exchange.finish();
}

/// A receive that has begun already is taken back. At check level `cross_rank` other functions are called.
TEST_F(Faults, OfMessages) {
  auto sending = isend(comm, out, next, 5);
  expect_failing("MPI_Recv", from("recv", 5), [&] { recv(comm, in, previous, 5); });
  sending.wait();
  auto receiving = irecv(comm, in, previous, 6);
  expect_failing("MPI_Send", to("send", 6), [&] { send(comm, out, next, 6); });
  receiving.wait();
  expect_failing("MPI_Sendrecv", to("sendrecv", 0) + ", " + from("sendrecv", 0),
                 [&] { sendrecv(comm, out, next, in, previous); });
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
  expect_error<MpiError>([&] { receiving.wait(); }, {from("irecv", 0) + ": MPI_Test failed: " + other});
  for (const bool all : {true, false}) {
    std::vector<Request<Ints>> pool;
    pool.push_back(isend(comm, out, next, 3));
    pool.push_back(irecv(comm, in, previous, 3));
    MPI_Barrier(comm.native());
    expect_failing(all ? "MPI_Waitall" : "MPI_Waitany", " (tag 3) of View ", [&] {
      if (all) return wait_all(pool);
      wait_any(pool);
    });
    EXPECT_FALSE(pool[0].active() && pool[1].active());
    EXPECT_TRUE(pool[0].finished() || !all);
    wait_all(pool);
  }
}

} // namespace
} // namespace kontor::comm::test
