// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Path `direct`: what is said where MPI is asked to take device memory and does not.
// Path `staged`: messages in pieces, through memory of the exchange method's own. It is a matter of device memory, but
// its code is the same for Views anywhere, so that it is tried here where there is no device.
#include "communicator/internals.hpp"
#include "each_method.hpp"
#include "exchange/exchange_method.hpp"

#include <kontor/comm/backend/gpu_awareness.hpp>
#include <kontor/comm/views/executor.hpp>
#include <kontor/comm/views/pinned_pool.hpp>
#include <kontor/comm/views/rows.hpp>

#include <cstdlib>

namespace kontor::comm::test {
namespace {

std::shared_ptr<const Executor> executor() { return executor_of(Kokkos::DefaultHostExecutionSpace()); }

/// A communicator's only method, with the path that it would not take for Views in host memory.
Method staged_method(const Communicator& comm) {
  auto method = detail::internals(comm).methods(MemoryKind::host).front();
  method.options = comm.options();
  method.options.path = Path::staged;
  return method;
}

/// One end of a message.
struct End {
  Buffer buffer;
  Watched cells;
  std::any owner; ///< the View
};
template <class View>
End all_of(const Field<View>& field) {
  return {to_buffer(field.view), watched(field), field.view};
}

/// Collective. Two messages along a row of ranks, two steps, by an exchange method on path `staged` with so many
/// chunks.
void expect_staged(const End& a, const End& b, const End& c, const End& d, std::size_t chunks,
                   std::initializer_list<Pattern> patterns) {
  for (const auto pattern : patterns) {
    const Communicator comm(MPI_COMM_WORLD, method("view", Packing::kernel, pattern));
    const auto method = staged_method(comm);
    SCOPED_TRACE(to_string(method.options));
    const auto [previous, next] = ring_of(comm, false);
    Delivery up(a.cells, b.cells), down(c.cells, d.cells);
    const std::vector<Slot> slots{{a.buffer, next, b.buffer, previous}, {c.buffer, previous, d.buffer, next}};
    const auto agreement = handshake(comm, "staged", slots);
    EXPECT_EQ(route(comm, method, "staged", slots, agreement).chunks.size(), comm.size() > 1 ? chunks : 1);
    ExchangeMethod exchange_method(comm, method, "staged", slots, agreement, executor());
    for (int step = 0; step < 2; ++step) {
      SCOPED_TRACE("step " + std::to_string(step));
      up.prepare(comm.native(), next, previous, step, 0);
      down.prepare(comm.native(), previous, next, step, 1);
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
  using enum Storage;
  const auto end = []<std::size_t rank>(Storage storage, const Index<rank>& extents) {
    return all_of(stored<double>(storage, "staged", extents));
  };
  const Index<2> small{3, 4}, rows{1100, 1000}, row{1, 600001};
  const Index<1> line{9}, long_line{1200000};
  expect_staged(end(left, small), end(inside_right, small), end(left, line), end(right, line), 1,
                {Pattern::blocking, Pattern::nonblocking, Pattern::persistent, Pattern::neighborhood});
  // 4 MiB a piece: 1.2 million doubles are 3 pieces; the other message has one.
  expect_staged(end(right, long_line), end(right, long_line), end(left, small), end(inside_right, small), 3,
                {Pattern::blocking, Pattern::persistent});
  // Strided at one end or both, cut along the message's slowest dimension: rows of 8000 bytes, 524 of them a piece.
  expect_staged(end(inside_right, rows), end(inside_left, rows), end(right, row), end(inside_right, row), 3,
                {Pattern::nonblocking, Pattern::neighborhood});
}

/// Lists are cut with the rows that they name: 1.2 million of them are 3 pieces.
TEST(Staged, LongLists) {
  constexpr std::int64_t n = 1200000;
  const auto x = stored<double>(Storage::left, "x", Index<1>{n}), y = stored<double>(Storage::left, "y", Index<1>{n});
  std::vector<SelectedRows> kept;
  const auto end = [&](const auto& field, const auto& index) {
    std::vector<std::int64_t> indices;
    std::vector<std::size_t> places;
    for (std::int64_t i = 0; i < n; ++i) {
      indices.push_back(index(i));
      places.push_back(sizeof(double) * static_cast<std::size_t>(index(i)));
    }
    kept.push_back(rows_by_index(to_buffer(field.view), std::move(indices), "list"));
    return End{
        kept.back().buffer, {"rows", sizeof(double), std::as_writable_bytes(field.memory), std::move(places)}, {}};
  };
  const auto sent = end(x, [](std::int64_t i) { return n - 1 - i; });
  const auto received = end(y, [](std::int64_t i) { return i % 2 == 0 ? i + 1 : i - 1; });
  const auto number = all_of(stored<double>(Storage::left, "number", Index<1>{1}));
  const auto other = all_of(stored<double>(Storage::left, "other", Index<1>{1}));
  expect_staged(sent, received, number, other, 3, {Pattern::nonblocking});
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
