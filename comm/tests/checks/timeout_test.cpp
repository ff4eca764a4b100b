// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Check level `cross_rank`: a message that never comes is an error of whoever waits for it.
#include "base/deadline.hpp"
#include "comm_test.hpp"
#include "communicator/internals.hpp"
#include "exchange/routing.hpp"

#include <kontor/comm/exchange/handshake.hpp>
#include <kontor/device/compat.hpp>
#include <kontor/device/streams.hpp>

namespace kontor::comm::test {
namespace {

Options has_timeout(Options options, double timeout = 0.2) {
  options.check = CheckLevel::cross_rank;
  options.timeout = timeout;
  return options;
}

/// What rank 0 is told where the last rank never starts a plan in which it sends to rank 0. Plans are used directly
/// here: an Exchange would find the missing rank before.
template <class Space = Kokkos::HostSpace>
void expect_text_at_rank_0(const Options& options, const std::string& text) {
  SCOPED_TRACE(to_string(options));
  using Numbers = Kokkos::View<int*, Space>;
  const Communicator comm(MPI_COMM_WORLD, has_timeout(options));
  const int last = comm.size() - 1;
  const bool receives = comm.rank() == 0;
  const Numbers out("out", 1000), in("in", 1000);
  const std::vector<Slot> slots{
      {to_buffer(out), comm.rank() == last ? 0 : no_rank, to_buffer(in), receives ? last : no_rank}};
  const auto agreement = handshake(comm, "lost", slots);
  const auto method =
      detail::internals(comm).methods(device::on_host<Space> ? MemoryKind::host : MemoryKind::device).front();
  auto routing = route(comm, method, "lost", slots, agreement);
  auto& schedule = routing.chunks[0].schedule;
  schedule.stream = device::native_stream(typename Numbers::execution_space());
  auto plan = method.backend->plan(schedule).plan;
  if (receives) {
    plan->prepare();
    plan->start();
    const auto wait = [&] {
      if (method.can.stream_ordered) return plan->finish();
      mpi::wait_within(
          comm.options().timeout, comm.native(), "exchange 'lost'", [&] { return plan->test(); },
          [&] { return plan->awaited(); });
    };
    expect_error<Error>(wait, {"exchange 'lost': rank 0 has waited 0.2 s for " + text});
  }
  MPI_Barrier(comm.native());
  static auto& left = *new std::vector<std::unique_ptr<Plan>>; // their other ends are not in order: never destroyed
  left.push_back(std::move(plan));
}

std::optional<Options> ipc_method() {
  for (const auto& method : device_methods())
    if (method.backend == "ipc") return method;
  return std::nullopt;
}

class Timeout : public testing::Test {
 protected:
  int last = world_size() - 1;
  void SetUp() override {
    if (last == 0) GTEST_SKIP() << "a rank does not miss itself";
  }
};

TEST_F(Timeout, ALostMessageIsAnError) {
#ifdef MPICH_NUMVERSION
  GTEST_SKIP() << "MPICH over UCX ends a program that leaves receives behind with an error";
#endif
  const auto from_last = fmt::format("rank {} to send to View 'in'", last);
  for (const auto pattern : {Pattern::blocking, Pattern::nonblocking, Pattern::persistent})
    expect_text_at_rank_0(method("raw", Packing::kernel, pattern),
                          from_last + "; the message is lost, or that rank is elsewhere");
  expect_text_at_rank_0(method("raw", Packing::kernel, Pattern::neighborhood),
                        fmt::format("one of its neighbours: it receives from ranks {} and sends to ranks ", last));
  for (const auto pattern : {Pattern::alltoall, Pattern::two_hop})
    expect_text_at_rank_0(method("raw", Packing::kernel, pattern), "one of the ranks that exchange together");
  expect_text_at_rank_0(method("raw", Packing::kernel, Pattern::rma),
                        fmt::format("one of ranks {} to put its message", last));
  expect_text_at_rank_0(method("shm"), from_last);
}

/// Kernels of backend `ipc` that reduce have a timeout of their own. Before the test that leaves a plan behind, and
/// with it memory that is mapped and cannot be mapped again.
TEST_F(Timeout, ARankThatDoesNotReduceIsAnErrorOnTheDevice) {
  using Sums = Kokkos::View<double*, Kokkos::DefaultExecutionSpace>;
  const auto ipc = ipc_method();
  if (!ipc) GTEST_SKIP() << "there is no backend 'ipc' here";
  const Communicator comm(MPI_COMM_WORLD, has_timeout(*ipc, 0.5));
  const Sums sums("sums", 3);
  Kokkos::fence();
  const auto collectives = detail::stream_collectives(comm)->for_one_stream(sums.size() * sizeof(double));
  const auto reduce = [&] {
    collectives->allreduce(device::native_stream(Sums::execution_space()), sums.data(), to_buffer(sums), ReduceOp::sum);
  };
  reduce();
  MPI_Barrier(MPI_COMM_WORLD);
  if (comm.rank() != last) {
    expect_error<Error>(
        reduce, {"'sums'", fmt::format("rank {} has waited 0.5 s", comm.rank()), fmt::format("for rank {}", last)});
    EXPECT_NE(text_of<Error>(reduce), "no error"); // nor is anything reduced afterwards
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (comm.rank() == last) detail::internals(comm).leak_at_end();
}

/// So have those that wait for messages.
TEST_F(Timeout, ALostMessageIsAnErrorOnTheDevice) {
  if (!ipc_method()) GTEST_SKIP() << "there is no backend 'ipc' here";
  auto choice = method("ipc");
  choice.path = Path::direct;
  expect_text_at_rank_0<Kokkos::DefaultExecutionSpace::memory_space>(choice,
                                                                     fmt::format("rank {} to send to View 'in'", last));
}

/// A ring of the exchange's own, on a communicator that checks.
struct TimedRing {
  explicit TimedRing(double timeout = 0.2, const Options& options = method("view"))
      : comm(MPI_COMM_WORLD, has_timeout(options, timeout)),
        exchange(ring_exchange(comm, "halo", Ints("out", 4), Ints("in", 4))) {}
  Communicator comm;
  Exchange<Ints> exchange;
};

/// Nor one that does not come to an exchange by which ranks learn who sends to them.
TEST_F(Timeout, ARankThatDoesNotComeIsAnError) {
  const Communicator comm(MPI_COMM_WORLD, has_timeout(method("raw")));
  if (comm.rank() != last) {
    std::vector<PeerMessage> messages;
    if (comm.rank() == 0) messages.push_back({last, std::vector<std::byte>(8)});
    expect_error<Error>([&] { sparse_exchange(comm, "halo", std::move(messages)); },
                        {fmt::format("exchange 'halo': rank {} has waited 0.2 s for ", comm.rank()),
                         comm.rank() == 0 ? fmt::format("rank {} to come", last) : "all ranks to come"});
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (comm.rank() == last) detail::internals(comm).leak_at_end();
}

/// Whoever has the error may go on without the exchange, while the rank that is elsewhere still has it: nor does a
/// destructor wait longer.
TEST_F(Timeout, ARankThatDoesNotStartIsAnError) {
  for (const auto& method : methods()) {
    if (method.packing != Packing::kernel && method.backend != automatic_backend) continue; // drops as that one does
    if (method.backend == "view") continue;                                                 // as raw does
    const bool waits_at_end = method.pattern == Pattern::rma || method.backend == "shm";
    for (const bool starts : {true, false}) {
      if (!starts && !waits_at_end) continue;
      SCOPED_TRACE(to_string(method));
      auto ring = std::make_unique<TimedRing>(0.2, method);
      const bool elsewhere = ring->comm.rank() == last;
      if (!elsewhere && starts)
        expect_error<Error>([&] { ring->exchange.start(); },
                            {"start, exchange 'halo' (commit ", fmt::format("missing: {}", last)});
      if (!elsewhere) ring = nullptr;
      MPI_Barrier(MPI_COMM_WORLD);
      if (elsewhere) detail::internals(ring->comm).leak_at_end();
    }
  }
}

TEST_F(Timeout, ExchangesInAnotherOrderAreAnError) {
  TimedRing first(20);
  Exchange<Ints> second(first.comm, "halo"); // labels may be equal
  second.commit();
  expect_error<AgreedError>([&] { (first.comm.rank() == last ? second : first.exchange).start(); },
                            {"rank 0 calls start, exchange 'halo' (commit ",
                             fmt::format("but rank {} calls start, exchange 'halo' (commit ", last)});
}

TEST(Timeouts, DoNotDisturb) {
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
