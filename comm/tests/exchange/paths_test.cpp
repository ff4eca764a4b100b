// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Path `direct`: what is said where MPI is asked to take device memory and does not.
// Path `staged`: messages in pieces, through memory of the exchange method's own. It is a matter of device memory, but
// its code is the same for Views anywhere, so that it is tried here where there is no device.
#include "communicator/internals.hpp"
#include "each_method.hpp"
#include "exchange/exchange_method.hpp"

#include <kontor/comm/backend/gpu_awareness.hpp>
#include <kontor/comm/views/kokkos_executor.hpp>
#include <kontor/comm/views/pinned_pool.hpp>
#include <kontor/comm/views/rows.hpp>

#include <cstdlib>

namespace kontor::comm::test {
namespace {

std::shared_ptr<const Executor> executor() {
  return std::make_shared<KokkosExecutor<Kokkos::DefaultHostExecutionSpace>>(Kokkos::DefaultHostExecutionSpace());
}

/// A communicator's only method, with the path that it would not take for Views in host memory.
Method staged_method(const Communicator& comm) {
  auto method = detail::internals(comm).methods(MemoryKind::host).front();
  method.options = comm.options();
  method.options.path = Path::staged;
  return method;
}

/// Collective. Two legs of a ring, two steps, by an exchange method on path `staged` with so many chunks.
template <class A, class B, class C, class D>
void expect_staged(const Field<A>& a, const Field<B>& b, const Field<C>& c, const Field<D>& d, std::size_t chunks,
                   std::initializer_list<Pattern> patterns) {
  for (const auto pattern : patterns) {
    const Communicator comm(MPI_COMM_WORLD, method("view", Packing::kernel, pattern));
    const auto method = staged_method(comm);
    SCOPED_TRACE(to_string(method.options));
    const auto [previous, next] = ring_of(comm, false);
    Leg<A, B> up{a, next, b, previous};
    Leg<C, D> down{c, previous, d, next};
    const std::vector<Slot> slots{{to_buffer(a.view), next, to_buffer(b.view), previous},
                                  {to_buffer(c.view), previous, to_buffer(d.view), next}};
    const auto agreement = handshake(comm, "staged", slots);
    EXPECT_EQ(route(comm, method, "staged", slots, agreement).chunks.size(), comm.size() > 1 ? chunks : 1);
    ExchangeMethod exchange_method(comm, method, "staged", slots, agreement, executor());
    for (int step = 0; step < 2; ++step) {
      SCOPED_TRACE("step " + std::to_string(step));
      up.prepare(comm, step, 0);
      down.prepare(comm, step, 1);
      PhaseTimes times;
      exchange_method.start(&times);
      bool ended = false;
      while (step == 1 && !ended) ended = exchange_method.test(&times);
      if (!ended) exchange_method.finish(&times);
      Kokkos::fence();
      up.check();
      down.check();
    }
  }
}

TEST(Staged, Messages) {
  expect_staged(whole<double, Left>("a", Index<2>{3, 4}), inside<double, Right>("b", Index<2>{3, 4}),
                inside<double, Left>("c", Index<1>{9}), whole<double, Right>("d", Index<1>{9}), 1,
                {Pattern::blocking, Pattern::nonblocking, Pattern::persistent, Pattern::neighborhood});
  // 4 MiB a piece: 1.2 million doubles are 3 pieces; the other message has one.
  expect_staged(whole<double, Right>("a", Index<1>{1200000}), whole<double, Right>("b", Index<1>{1200000}),
                whole<double, Left>("c", Index<2>{3, 5}), inside<double, Right>("d", Index<2>{3, 5}), 3,
                {Pattern::blocking, Pattern::persistent});
  // Strided at one end or both, cut along the message's slowest dimension: rows of 8000 bytes, 524 of them a piece.
  expect_staged(inside<double, Right>("a", Index<2>{1100, 1000}), inside<double, Left>("b", Index<2>{1100, 1000}),
                whole<double, Right>("c", Index<2>{1, 600001}), inside<double, Right>("d", Index<2>{1, 600001}), 3,
                {Pattern::nonblocking, Pattern::neighborhood});
}

/// Lists are cut with the rows that they name: 1.2 million of them are 3 pieces.
TEST(Staged, LongLists) {
  const Communicator comm(MPI_COMM_WORLD, method("view"));
  const auto method = staged_method(comm);
  const auto [previous, next] = ring_of(comm);
  constexpr int n = 1200000;
  const Doubles x("x", 2 * n);
  std::vector<std::int64_t> sent(n), received(n);
  for (int i = 0; i < n; ++i) {
    x(i) = 3. * i + comm.rank();
    sent[i] = n - 1 - i;
    received[i] = n + (i % 2 == 0 ? i + 1 : i - 1);
  }
  const auto out = rows_by_index(to_buffer(x), sent, "sent");
  const auto in = rows_by_index(to_buffer(x), received, "received");
  const std::vector<Slot> slots{{out.buffer, next, in.buffer, previous}};
  const auto agreement = handshake(comm, "staged", slots);
  EXPECT_EQ(route(comm, method, "staged", slots, agreement).chunks.size(), 3u);
  ExchangeMethod exchange_method(comm, method, "staged", slots, agreement, executor());
  exchange_method.start(nullptr);
  exchange_method.finish(nullptr);
  Kokkos::fence();
  int right = 0;
  for (int i = 0; i < n; ++i) right += x(received[i]) == 3. * (n - 1 - i) + previous;
  EXPECT_EQ(right, n);
}

TEST(PinnedPool, BlocksAreUsedAgain) {
  detail::PinnedPool pool;
  const void* first = nullptr;
  {
    const auto block = pool.take(5000);
    first = block.data();
    EXPECT_GE(block.size(), 5000u);
    const auto second = pool.take(100);
    EXPECT_NE(second.data(), first);
  }
  const auto large = pool.take(6000);
  EXPECT_EQ(large.data(), first);
  const auto small = pool.take(1);
  EXPECT_NE(small.data(), first);
  EXPECT_GE(pool.take(100000).size(), 100000u);
}

/// With what the environment says of MPI, and without it afterwards.
class GpuAwareness : public testing::Test {
 protected:
  static void say(const char* aware) { setenv("KONTOR_GPU_AWARE_MPI", aware, 1); }
  void TearDown() override { unsetenv("KONTOR_GPU_AWARE_MPI"); }
};

void expect_refused(Options options, Path path, std::initializer_list<std::string> facts) {
  options.path = path;
  expect_error<UsageError>([&] { Communicator(MPI_COMM_WORLD, options); }, facts);
}

TEST_F(GpuAwareness, IsSaidByTheEnvironmentAndDecides) {
  say("1");
  EXPECT_TRUE(gpu_awareness().aware);
  // Also with an MPI that takes device memory: windows lie in host memory all the same.
  const std::string own_memory =
      " keeps messages in host memory of its own, which kernels on a device do not reach; choose ";
  for (const auto* aware : {"0", "1"}) {
    say(aware);
    expect_refused(method("view", Packing::kernel, Pattern::rma), Path::direct,
                   {"pattern 'rma'", own_memory, "another pattern than 'rma' with backend raw or view"});
    expect_refused(method("shm"), Path::direct, {"backend 'shm'", own_memory, "backend raw or view"});
  }
  // A transport may take device memory whose MPI does not; but packing is MPI's, and it would crash.
  expect_refused(method("view", Packing::datatype), Path::direct,
                 {"packing 'datatype' with path 'direct' has MPI pack device memory", "choose packing 'kernel'"});
  expect_refused(method("view", Packing::datatype), Path::staged,
                 {"path 'staged' packs Views into host memory, so packing 'datatype'",
                  "is not possible; choose "
                  "packing 'kernel' or 'auto', or path 'direct'"});
  say("0");
  EXPECT_FALSE(gpu_awareness().aware);
  const std::string header = "KONTOR_GPU_AWARE_MPI in the environment says that it does not take it";
  EXPECT_EQ(gpu_awareness().header, header);
  for (const auto* backend : {"raw", "view"})
    expect_refused(method(backend), Path::direct,
                   {"path 'direct' hands device memory to MPI, and " + header, "choose path 'staged'"});
}

} // namespace
} // namespace kontor::comm::test
