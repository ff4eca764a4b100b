// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Check level `cross_rank`: a message that never comes is an error of whoever waits for it.
#include "backend/deadline.hpp"
#include "error_text.hpp"
#include "exchange/routing.hpp"
#include "methods.hpp"

#include <kontor/comm/comm.hpp>
#include <kontor/comm/communicator/internals.hpp>
#include <kontor/comm/exchange/handshake.hpp>
#include <kontor/device/compat.hpp>
#include <kontor/device/streams.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

namespace kontor::comm::test {
namespace {

using Ints = Kokkos::View<int*, Kokkos::HostSpace>;

/// What rank 0 is told where the last rank never starts a plan in which it sends to rank 0. Plans are used
/// directly here: an Exchange would find the missing rank before.
template <class Space>
std::string text_at_rank_0(const Options& options) {
  using Numbers = Kokkos::View<int*, Space>;
  const Communicator comm(MPI_COMM_WORLD, options);
  const int last = comm.size() - 1;
  const bool sends = comm.rank() == last;
  const bool receives = comm.rank() == 0;
  const Numbers out("out", 1000), in("in", 1000);
  const std::vector<Slot> slots{
      {to_buffer(out), sends ? 0 : no_rank, to_buffer(in), receives ? last : no_rank}};
  const auto agreement = handshake(comm, "lost", slots);
  const auto method =
      detail::internals(comm).methods(device::on_host<Space> ? MemoryKind::host : MemoryKind::device).front();
  auto routing = route(comm, method, "lost", slots, agreement);
  auto& schedule = routing.chunks[0].schedule;
  schedule.stream = device::native_stream(typename Numbers::execution_space());
  auto plan = method.backend->plan(schedule).plan;
  std::string text;
  if (receives) {
    plan->prepare();
    plan->start();
    const auto wait = [&] {
      if (method.can.stream_ordered) return plan->finish();
      mpi::wait_within(
          options.timeout, comm.native(), "exchange 'lost'", [&] { return plan->test(); },
          [&] { return plan->awaited(); });
    };
    text = text_of<Error>(wait);
  }
  MPI_Barrier(comm.native());
  static auto& left =
      *new std::vector<std::unique_ptr<Plan>>; // their other ends are not in order: never destroyed
  left.push_back(std::move(plan));
  return text;
}

Options has_timeout(Options options, double timeout = 0.2) {
  options.check = CheckLevel::cross_rank;
  options.timeout = timeout;
  return options;
}

TEST(Timeout, ALostMessageIsAnError) {
#ifdef MPICH_NUMVERSION
  GTEST_SKIP() << "MPICH over UCX ends a program that leaves receives behind with an error";
#endif
  int size = 1;
  int rank = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (size == 1) GTEST_SKIP() << "a rank does not miss itself";
  const auto by_message =
      fmt::format("exchange 'lost': rank 0 has waited 0.2 s for rank {} to send to View 'in'; "
                  "the message is lost, or that rank is elsewhere",
                  size - 1);
  const auto expect = [&](const Options& options, const std::string& text) {
    SCOPED_TRACE(to_string(options));
    EXPECT_EQ(text_at_rank_0<Kokkos::HostSpace>(has_timeout(options)), rank == 0 ? text : "");
  };
  for (const auto pattern : {Pattern::blocking, Pattern::nonblocking, Pattern::persistent})
    expect(method("raw", Packing::kernel, pattern), by_message);
  expect(method("raw", Packing::kernel, Pattern::neighborhood),
         fmt::format(
             "exchange 'lost': rank 0 has waited 0.2 s for one of its neighbours: it receives from ranks {} "
             "and sends to ranks ",
             size - 1));
  expect(method("raw", Packing::kernel, Pattern::rma),
         fmt::format("exchange 'lost': rank 0 has waited 0.2 s for one of ranks {} to put its message",
                     size - 1));
  expect(method("shm"),
         fmt::format("exchange 'lost': rank 0 has waited 0.2 s for rank {} to send to View 'in'", size - 1));
}

/// Kernels of backend `ipc` that reduce have a timeout of their own. Before the test that leaves a plan
/// behind, and with it memory that is mapped and cannot be mapped again.
TEST(Timeout, ARankThatDoesNotReduceIsAnErrorOnTheDevice) {
  using Sums = Kokkos::View<double*, Kokkos::DefaultExecutionSpace>;
  int size = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size == 1) GTEST_SKIP() << "a rank does not miss itself";
  const auto possible = device_methods();
  const auto found = std::ranges::find(possible, "ipc", &Options::backend);
  if (found == possible.end()) GTEST_SKIP() << "there is no backend 'ipc' here";
  const Communicator comm(MPI_COMM_WORLD, has_timeout(*found, 0.5));
  const int last = size - 1;
  const Sums sums("sums", 3);
  Kokkos::fence();
  auto* collectives = detail::internals(comm).backend().stream_collectives();
  ASSERT_NE(collectives, nullptr);
  const auto reduce = [&] {
    collectives->allreduce(device::native_stream(Sums::execution_space()), sums.data(), to_buffer(sums),
                           ReduceOp::sum);
  };
  reduce();
  MPI_Barrier(MPI_COMM_WORLD);
  if (comm.rank() != last) {
    const auto text = text_of<Error>(reduce);
    for (const auto& fact : {std::string("'sums'"), fmt::format("rank {} has waited 0.5 s", comm.rank()),
                             fmt::format("for rank {}", last)})
      EXPECT_NE(text.find(fact), std::string::npos) << text;
    EXPECT_NE(text_of<Error>(reduce), "no error"); // nor is anything reduced afterwards
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (comm.rank() == last) detail::internals(comm).leak_at_end();
}

/// So have those that wait for messages.
TEST(Timeout, ALostMessageIsAnErrorOnTheDevice) {
  int size = 1;
  int rank = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (size == 1) GTEST_SKIP() << "a rank does not miss itself";
  auto choice = method("ipc");
  choice.path = Path::direct;
  const auto possible = device_methods();
  if (std::none_of(possible.begin(), possible.end(), [](const Options& o) { return o.backend == "ipc"; }))
    GTEST_SKIP() << "there is no backend 'ipc' here";
  const auto text = text_at_rank_0<Kokkos::DefaultExecutionSpace::memory_space>(has_timeout(choice));
  EXPECT_EQ(text, rank == 0 ? fmt::format(
                                  "exchange 'lost': rank 0 has waited 0.2 s for rank {} to send to View 'in'",
                                  size - 1)
                            : "");
}

/// A ring of the exchange's own, on a communicator that checks.
struct TimedRing {
  explicit TimedRing(const char* name, const Options& options = method("view"), double timeout = 0.2)
      : comm(MPI_COMM_WORLD, has_timeout(options, timeout)), exchange(comm, name) {
    const auto [previous, next] = ring_of(comm);
    exchange.add(Ints("out", 4), next, Ints("in", 4), previous);
    exchange.commit();
  }
  Communicator comm;
  Exchange<Ints> exchange;
};

TEST(Timeout, ARankThatDoesNotStartIsAnError) {
  TimedRing ring("halo");
  const int last = ring.comm.size() - 1;
  if (last == 0) GTEST_SKIP() << "a rank does not miss itself";
  if (ring.comm.rank() < last) {
    const auto text = text_of<Error>([&] { ring.exchange.start(); });
    EXPECT_TRUE(text.starts_with("start, exchange 'halo': ")) << text;
    EXPECT_NE(text.find(fmt::format("missing: {}", last)), std::string::npos) << text;
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

/// Whoever has the error may go on without the exchange, while the rank that is elsewhere still has it.
TEST(Timeout, AFailedExchangeIsDroppedWithoutWaiting) {
  for (const auto& method : methods()) {
    if (method.packing == Packing::automatic && method.backend != automatic_backend)
      continue; // one of the others
    SCOPED_TRACE(to_string(method));
    auto ring = std::make_unique<TimedRing>("halo", method);
    if (ring->comm.size() == 1) GTEST_SKIP() << "a rank does not miss itself";
    const bool elsewhere = ring->comm.rank() == ring->comm.size() - 1;
    if (!elsewhere) {
      EXPECT_NE(text_of<Error>([&] { ring->exchange.start(); }), "no error");
      ring = nullptr;
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (elsewhere) detail::internals(ring->comm).leak_at_end();
  }
}

TEST(Timeout, ExchangesInAnotherOrderAreAnError) {
  TimedRing first("first", method("view"), 20);
  if (first.comm.size() == 1) GTEST_SKIP() << "one rank has one order";
  Exchange<Ints> second(first.comm, "second");
  second.commit();
  const bool other = first.comm.rank() == first.comm.size() - 1;
  EXPECT_EQ(text_of<AgreedError>([&] { (other ? second : first.exchange).start(); }),
            fmt::format("rank 0 calls start, exchange 'first', but rank {} calls start, exchange 'second'",
                        first.comm.size() - 1));
}

TEST(Timeout, ACollectiveInTheMiddleOfAStepIsAnError) {
  TimedRing ring("halo", method("view"), 20);
  if (ring.comm.size() == 1) GTEST_SKIP() << "one rank has one order";
  ring.exchange.start();
  const auto text = text_of<AgreedError>([&] {
    if (ring.comm.rank() == 0)
      barrier(ring.comm);
    else
      ring.exchange.finish();
  });
  EXPECT_EQ(text, "rank 0 calls barrier, but rank 1 calls finish, exchange 'halo'");
}

/// The first test() of a step is compared with the finish() of others.
TEST(Timeout, AStepThatTestEndsIsComparedToo) {
  TimedRing ring("halo", method("view"), 20);
  for (int step = 0; step < 3; ++step) {
    ring.exchange.start();
    bool ended = (ring.comm.rank() + step) % 2 == 0;
    if (ended) ring.exchange.finish();
    while (!ended) ended = ring.exchange.test();
  }
  if (ring.comm.size() == 1) return;
  ring.exchange.start();
  const auto text = text_of<AgreedError>([&] {
    if (ring.comm.rank() == 0) barrier(ring.comm);
    while (!ring.exchange.test()) {
    }
  });
  EXPECT_EQ(text, "rank 0 calls barrier, but rank 1 calls finish, exchange 'halo'");
}

/// At the other levels and with enough time, nothing changes.
TEST(Timeout, ChecksDoNotDisturb) {
  for (const auto& method : methods()) {
    SCOPED_TRACE(to_string(method));
    auto options = has_timeout(method);
    options.timeout = 20;
    expect_usable(Communicator(MPI_COMM_WORLD, options));
    options.check = CheckLevel::off;
    expect_usable(Communicator(MPI_COMM_WORLD, options));
  }
}

} // namespace
} // namespace kontor::comm::test
