// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Several threads, one communicator, a tag for each.
#include "comm_test.hpp"

#include <thread>

extern "C" int MPI_Init(int* argc, char*** argv) {
  int granted = 0;
  return PMPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &granted);
}

namespace kontor::comm::test {
namespace {

class ThreadsAtLevel : public testing::TestWithParam<CheckLevel> {};
INSTANTIATE_TEST_SUITE_P(Levels, ThreadsAtLevel, testing::ValuesIn(all_levels));

TEST_P(ThreadsAtLevel, EachHasATag) {
  int level = 0;
  MPI_Query_thread(&level);
  if (level < MPI_THREAD_MULTIPLE)
    GTEST_SKIP() << "MPI does not grant MPI_THREAD_MULTIPLE, so threads cannot send at the same time";
  const Communicator comm(MPI_COMM_WORLD, {.check = GetParam()});
  const int previous = ring_of(comm).first, next = ring_of(comm).second;

  constexpr int threads = 4;
  constexpr int rounds = 100;
  std::vector<std::pair<Ints, Ints>> views; // made here: Kokkos counts references for one thread at a time
  for (int t = 0; t < threads; ++t) views.emplace_back(Ints("out", 50 + t), Ints("in", 50 + t));
  std::vector<int> wrong(threads, 0);

  const auto work = [&](int t) {
    const auto& [out, in] = views[t];
    for (int n = 0; n < rounds; ++n) {
      const auto value = [&](int rank) { return 1000 * n + 10 * t + rank; };
      for (std::size_t i = 0; i < out.size(); ++i) out(i) = value(comm.rank());
      if (n % 2 == 0) {
        sendrecv(comm, out, next, in, previous, t);
      } else {
        auto request = irecv(comm, in, previous, t);
        send(comm, out, next, t);
        request.wait();
      }
      for (std::size_t i = 0; i < in.size(); ++i) wrong[t] += in(i) != value(previous);
    }
  };
  std::vector<std::thread> running;
  for (int t = 0; t < threads; ++t) running.emplace_back(work, t);
  for (auto& thread : running) thread.join();
  EXPECT_EQ(wrong, std::vector<int>(threads, 0));
}

} // namespace
} // namespace kontor::comm::test
