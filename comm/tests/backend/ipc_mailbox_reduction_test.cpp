// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How the kernels of backend `ipc` combine numbers by mailboxes, on the host by their functions: each rank is a thread.
#include <kontor/comm/mailboxes.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <limits>
#include <random>
#include <thread>
#include <vector>

namespace kontor::comm::ipc {
namespace {

using Clock = std::chrono::steady_clock;

/// Waits for so long at most.
struct HostMemory {
  std::chrono::milliseconds timeout{20000};

  struct Wait {
    Clock::time_point end;
    bool goes_on() const {
      std::this_thread::yield();
      return Clock::now() < end;
    }
  };
  void store(Word& word, Word value) const { std::atomic_ref(word).store(value, std::memory_order_relaxed); }
  Word load(const Word& word) const { return std::atomic_ref(const_cast<Word&>(word)).load(std::memory_order_relaxed); }
  Wait wait() const { return {Clock::now() + timeout}; }
};

/// The mailboxes of so many ranks, for so many bytes.
class Ranks {
 public:
  Ranks(int ranks, std::uint32_t bytes) : slot_words_(bytes / 4), memory_(ranks) {
    for (auto& box : memory_) box.resize(std::size_t{2} * ranks * slot_words_);
  }

  /// Calls rank_does(mailboxes) for all ranks beside each other.
  template <class RankDoes>
  void run(const RankDoes& rank_does) {
    std::vector<std::thread> threads;
    for (int r = 0; r < size(); ++r) threads.emplace_back([&, r] { rank_does(of(r)); });
    for (auto& thread : threads) thread.join();
  }

  Mailboxes of(int rank) {
    Mailboxes result;
    for (int r = 0; r < size(); ++r) result.of[r] = memory_[r].data();
    result.rank = rank;
    result.ranks = size();
    result.slot_words = slot_words_;
    return result;
  }
  int size() const { return static_cast<int>(memory_.size()); }

 private:
  std::uint32_t slot_words_;
  std::vector<std::vector<Word>> memory_;
};

/// A step as the kernel makes it, by three threads. The rank that has not come, or -1.
template <class T>
int reduce(const Mailboxes& boxes, std::uint64_t step, const T* in, T* out, std::uint32_t count, ReduceOp how,
           const HostMemory& memory = {}) {
  constexpr std::uint32_t threads = 3;
  for (std::uint32_t t = 0; t < threads; ++t) send_numbers(boxes, step, in, count, t, threads, memory);
  for (std::uint32_t t = 0; t < threads; ++t)
    if (const int late = combine_numbers(boxes, step, in, out, count, how, t, threads, memory); late >= 0) return late;
  return -1;
}

/// Of floating-point numbers whose sum depends on the order.
template <class T>
T number_of(int rank, std::uint64_t step, std::uint32_t i) {
  std::mt19937_64 random(1000 * step + 10 * i + static_cast<std::uint64_t>(rank));
  const auto small = static_cast<int>(random() % 5) - (std::is_signed_v<T> ? 2 : 0);
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(small);
  else
    return std::ldexp(static_cast<T>(small), static_cast<int>(random() % (std::numeric_limits<T>::digits + 6)));
}

template <class T>
T expected(ReduceOp how, T a, T b) {
  switch (how) {
  case ReduceOp::sum: return static_cast<T>(a + b);
  case ReduceOp::product: return static_cast<T>(a * b);
  case ReduceOp::min: return std::min(a, b);
  default: return std::max(a, b);
  }
}

/// In place, with nothing written beyond the last number; ranks are late in turns, and the others do not wait for them
/// longer than they must. Beyond 2^32 steps too.
template <class T>
void expect_steps(int size, int steps) {
  constexpr std::uint32_t most = 16;
  constexpr ReduceOp ops[] = {ReduceOp::sum, ReduceOp::product, ReduceOp::min, ReduceOp::max};
  Ranks ranks(size, most * sizeof(T));
  std::atomic<int> wrong = 0;
  ranks.run([&](const Mailboxes& boxes) {
    std::uint64_t step = (std::uint64_t{1} << 32) - static_cast<std::uint64_t>(steps) / 2;
    for (int s = 0; s < steps && wrong == 0; ++s, ++step) { // or each of the steps would wait in vain
      const auto count = 1 + static_cast<std::uint32_t>(step * 7 % most);
      const auto how = ops[s % 4];
      if (s % 8 == 0 && s / 8 % size == boxes.rank) std::this_thread::sleep_for(std::chrono::microseconds(200));
      std::vector<T> numbers(count + 1, T(77)), all(numbers);
      for (std::uint32_t i = 0; i < count; ++i) {
        numbers[i] = number_of<T>(boxes.rank, step, i);
        all[i] = number_of<T>(0, step, i);
        for (int r = 1; r < size; ++r) all[i] = expected(how, all[i], number_of<T>(r, step, i));
      }
      if (reduce(boxes, step, numbers.data(), numbers.data(), count, how) >= 0 || numbers != all) ++wrong;
    }
  });
  EXPECT_EQ(wrong, 0) << sizeof(T) << " bytes, " << size << " ranks";
}

template <class... Ts>
void expect_types() {
  (expect_steps<Ts>(3, 64), ...);
}
TEST(MailboxReduction, CombinesInTheOrderOfRanks) {
  for (const int size : {1, 2, 5}) expect_steps<double>(size, 200);
  expect_types<std::int8_t, std::uint8_t, std::int16_t, std::uint16_t, std::int32_t, std::uint32_t, std::int64_t,
               std::uint64_t, float, double>();
  constexpr auto most = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(combined(ReduceOp::sum, most, std::int64_t{1}), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(combined(ReduceOp::product, std::int16_t{300}, std::int16_t{300}), static_cast<std::int16_t>(90000));
}

TEST(MailboxReduction, ARankThatHasLeft) {
  constexpr int gone = 1;
  Ranks ranks(3, 8);
  ranks.run([&](const Mailboxes& boxes) {
    const HostMemory memory{std::chrono::milliseconds(500)}; // the others may start as late
    double number = 1;
    EXPECT_EQ(reduce(boxes, 1, &number, &number, 1, ReduceOp::sum), -1);
    EXPECT_TRUE(boxes.rank == gone || reduce(boxes, 2, &number, &number, 1, ReduceOp::sum, memory) == gone);
  });
}

} // namespace
} // namespace kontor::comm::ipc
