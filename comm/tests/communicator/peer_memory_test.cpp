// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Memory of all ranks and the counters by which they take turns: between threads, and between processes by `shm`.
#include "comm_test.hpp"

#include <kontor/comm/peer_memory.hpp>

#include <chrono>
#include <random>
#include <thread>

namespace kontor::comm::test {
namespace {

using Memory = PeerMemory<Kokkos::HostSpace>;

/// What one of several ranks has for its neighbour: two values in turn, and how many it has written.
struct Cell {
  alignas(64) device::Counter written;
  std::int64_t values[2];
};

std::int64_t value_of(int rank, device::Counter step) { return static_cast<std::int64_t>(step) * 100 + rank; }

/// Steps of a ring, with pauses now and then; returns how many values were wrong. Two places are enough, because a
/// rank that is a step ahead waits for its other neighbour, and so on around.
int ring(int rank, int ranks, Cell* const* cells, const PeerWait& wait, int steps) {
  std::minstd_rand random(static_cast<unsigned>(rank) + 1);
  const int left = (rank + ranks - 1) % ranks, right = (rank + 1) % ranks;
  Cell *from_left = cells[2 * rank], *from_right = cells[2 * rank + 1];
  Cell *to_right = cells[2 * right], *to_left = cells[2 * left + 1];
  int wrong = 0;
  for (device::Counter step = 1; step <= static_cast<device::Counter>(steps); ++step) {
    if (random() % 64 == 0) std::this_thread::sleep_for(std::chrono::microseconds(random() % 50));
    for (Cell* cell : {to_right, to_left}) {
      cell->values[step % 2] = value_of(rank, step);
      device::store_release(cell->written, step);
    }
    if (!wait.until(from_left->written, step, left) || !wait.until(from_right->written, step, right)) return -1;
    wrong += from_left->values[step % 2] != value_of(left, step);
    wrong += from_right->values[step % 2] != value_of(right, step);
  }
  return wrong;
}

TEST(PeerWait, OrdersWhatThreadsWrite) {
  constexpr int ranks = 3;
  std::array<Cell, 2 * ranks> memory{};
  std::array<Cell*, 2 * ranks> cells{};
  for (std::size_t i = 0; i < memory.size(); ++i) cells[i] = &memory[i];
  PeerSignals signals;
  std::array<int, ranks> wrong{};
  std::vector<std::thread> threads;
  for (int r = 0; r < ranks; ++r)
    threads.emplace_back([&, r] { wrong[r] = ring(r, ranks, cells.data(), PeerWait(&signals, 0), 3000); });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(wrong, (std::array<int, ranks>{}));
  EXPECT_EQ(signals.late, 0u);
}

TEST(PeerWait, EndsAtTheTimeoutWithAllOthers) {
  PeerSignals signals;
  device::Counter never = 0;
  const PeerWait short_wait(&signals, 50'000'000), any_time(&signals, 0);
  std::thread other([&] { EXPECT_FALSE(any_time.until(never, 1, 5)); });
  std::thread own([&] { EXPECT_FALSE(short_wait.until_own(never, 1)); });
  EXPECT_FALSE(short_wait.until(never, 1, 3));
  other.join();
  own.join();
  EXPECT_EQ(signals.late, 4u); // 1 + the first that was given up
  never = 1;
  EXPECT_TRUE(any_time.until(never, 1, 5)); // nothing to wait for
}

class PeerMemoryOf : public testing::TestWithParam<CheckLevel> {};
INSTANTIATE_TEST_SUITE_P(Levels, PeerMemoryOf, testing::ValuesIn(all_levels));

TEST_P(PeerMemoryOf, ProcessesIsReachedByAll) {
  const Communicator comm(MPI_COMM_WORLD, {.backend = "shm", .check = GetParam()});
  ASSERT_EQ(Memory::refusal(comm), std::nullopt);
  for (int repeat = 0; repeat < 2; ++repeat) { // all zero again
    const Memory memory(comm, 2 * sizeof(Cell), "ring");
    std::vector<Cell*> cells;
    for (int r = 0; r < comm.size(); ++r)
      for (std::size_t i : {0, 1}) {
        cells.push_back(reinterpret_cast<Cell*>(memory.of(r)) + i);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(cells.back()) % 64, 0u);
      }
    EXPECT_EQ(ring(comm.rank(), comm.size(), cells.data(), memory.wait(), 2000), 0);
    EXPECT_NO_THROW(memory.check());
  }
}

TEST(PeerMemoryRefusal, NamesWhatMapsMemory) {
  for (const char* backend : {"raw", "view"}) {
    const Communicator comm(MPI_COMM_WORLD, {.backend = backend});
    const auto refusal = Memory::refusal(comm);
    if (comm.size() == 1) {
      EXPECT_EQ(refusal, std::nullopt);
      EXPECT_NE(Memory(comm, 64, "alone").of(0), nullptr);
      continue;
    }
    expect_facts(refusal.value_or("none"), {backend, "ipc", "shm"});
    expect_error<UsageError>([&] { Memory(comm, 64, "refused"); }, {backend, "ipc", "shm"});
  }
  // Device pointers would be host memory, and only one rank's kernels would fail.
  const Communicator comm(MPI_COMM_WORLD, {.backend = "shm"});
  if (comm.size() == 1) return;
  const bool host = comm.rank() > 0;
  expect_error<UsageError>([&] { detail::allocate_for_peers(comm, 64, host); }, {"'shm' maps no memory of a device"});
}

/// It shares the communicator, and the host ends waits at any check level.
TEST(PeerMemoryAbort, EndsWaits) {
  Communicator comm(MPI_COMM_WORLD, {.backend = "shm"});
  if (comm.size() == 1) GTEST_SKIP() << "nobody to wait for";
  const Memory memory(comm, sizeof(Cell), "cell");
  auto& never = reinterpret_cast<Cell*>(memory.of(comm.rank()))->written;
  const auto moved = std::move(comm);
  std::thread kernel([&] { EXPECT_FALSE(memory.wait().until(never, 1, 0)); });
  memory.abort();
  kernel.join();
  EXPECT_NO_THROW(memory.check());
}

TEST(PeerMemoryTimeout, IsAnErrorOfARankThatWaits) {
  const Communicator comm(MPI_COMM_WORLD, {.backend = "shm", .check = CheckLevel::cross_rank, .timeout = 0.2});
  if (comm.size() == 1) GTEST_SKIP() << "nobody to wait for";
  const Memory memory(comm, sizeof(Cell), "cell");
  const int next = (comm.rank() + 1) % comm.size(); // which tells nothing
  EXPECT_FALSE(memory.wait().until(reinterpret_cast<Cell*>(memory.of(comm.rank()))->written, 1, next));
  expect_error<Error>([&] { memory.check(); },
                      {fmt::format("rank {}", comm.rank()), fmt::format("rank {}", next), "0.2 s"});
}

} // namespace
} // namespace kontor::comm::test
