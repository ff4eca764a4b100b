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

/// Numbers whose sum depends on the order.
std::vector<double> numbers_of(int rank, std::uint64_t step, std::uint32_t count) {
  std::mt19937_64 random(1000 * step + static_cast<std::uint64_t>(rank));
  std::vector<double> result(count);
  for (auto& x : result) x = std::ldexp(static_cast<double>(random() % 1000), static_cast<int>(random() % 60));
  return result;
}

std::vector<double> sum_in_order(int ranks, std::uint64_t step, std::uint32_t count) {
  auto sum = numbers_of(0, step, count);
  for (int r = 1; r < ranks; ++r) {
    const auto more = numbers_of(r, step, count);
    for (std::uint32_t i = 0; i < count; ++i) sum[i] += more[i];
  }
  return sum;
}

/// Many steps of several sizes; ranks are late in turns, and the others do not wait for them longer than they must.
/// Beyond 2^32 steps too.
TEST(MailboxReduction, ManyStepsOfSkewedRanks) {
  constexpr std::uint32_t most = 16;
  constexpr int steps = 200;
  for (const int size : {1, 2, 3, 5}) {
    Ranks ranks(size, most * sizeof(double));
    std::atomic<int> wrong = 0;
    ranks.run([&](const Mailboxes& boxes) {
      std::uint64_t step = (std::uint64_t{1} << 32) - steps / 2;
      for (int s = 0; s < steps; ++s, ++step) {
        const auto count = 1 + static_cast<std::uint32_t>(step * 7 % most);
        if (s % 8 == 0 && s / 8 % size == boxes.rank) std::this_thread::sleep_for(std::chrono::microseconds(200));
        const auto in = numbers_of(boxes.rank, step, count);
        std::vector<double> out(count);
        if (reduce(boxes, step, in.data(), out.data(), count, ReduceOp::sum) >= 0) ++wrong;
        if (out != sum_in_order(size, step, count)) ++wrong;
        if (wrong > 0) return; // or each of the steps would wait in vain
      }
    });
    EXPECT_EQ(wrong, 0) << size << " ranks";
  }
}

template <class T>
T expected(ReduceOp how, T a, T b) {
  switch (how) {
  case ReduceOp::sum: return static_cast<T>(a + b);
  case ReduceOp::product: return static_cast<T>(a * b);
  case ReduceOp::min: return std::min(a, b);
  case ReduceOp::max: return std::max(a, b);
  default: return a;
  }
}

/// In place, with nothing written beyond the last number.
template <class T>
void expect_type() {
  constexpr int size = 3;
  constexpr std::uint32_t most = 9;
  const auto value = [](int rank, std::uint32_t i) {
    const T sign = std::is_signed_v<T> && (rank + static_cast<int>(i)) % 2 == 1 ? static_cast<T>(-1) : T(1);
    return static_cast<T>(sign * static_cast<T>(1 + rank + static_cast<int>(i) % 5));
  };
  Ranks ranks(size, (most * sizeof(T) + 3) / 4 * 4);
  std::uint64_t step = 0;
  for (const auto how : {ReduceOp::sum, ReduceOp::product, ReduceOp::min, ReduceOp::max}) {
    for (std::uint32_t count = 1; count <= most; ++count) {
      ++step;
      ranks.run([&](const Mailboxes& boxes) {
        std::vector<T> numbers(count + 1, T(77));
        for (std::uint32_t i = 0; i < count; ++i) numbers[i] = value(boxes.rank, i);
        EXPECT_EQ(reduce(boxes, step, numbers.data(), numbers.data(), count, how), -1);
        for (std::uint32_t i = 0; i < count; ++i) {
          T all = value(0, i);
          for (int r = 1; r < size; ++r) all = expected(how, all, value(r, i));
          EXPECT_EQ(numbers[i], all) << sizeof(T) << " bytes, " << count << ", " << static_cast<int>(how);
        }
        EXPECT_EQ(numbers[count], T(77));
      });
    }
  }
}

template <class... Ts>
void expect_types() {
  (expect_type<Ts>(), ...);
}
TEST(MailboxReduction, AllNumbers) {
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
    const auto step = [&](std::uint64_t s) { return reduce(boxes, s, &number, &number, 1, ReduceOp::sum, memory); };
    EXPECT_EQ(reduce(boxes, 1, &number, &number, 1, ReduceOp::sum), -1);
    if (boxes.rank != gone) {
      EXPECT_EQ(step(2), gone);
    }
  });
}

} // namespace
} // namespace kontor::comm::ipc
