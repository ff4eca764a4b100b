// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Exact sums: against expansions without overlap (which know no digits), in any order, on any number of
// ranks, by the kernels of a host and of a device.
#include "error_text.hpp"
#include "host_collectives.hpp"

#include <kontor/comm/comm.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <stdexcept>
#include <vector>

namespace kontor::comm::test {
namespace {

using Space = Kokkos::DefaultExecutionSpace;
using HostKernels = sums::LocalSums<Kokkos::DefaultHostExecutionSpace, false>;
using DeviceKernels = sums::LocalSums<Space, true>;
using Numbers = std::vector<double>;
using Digits = Kokkos::View<std::int64_t*, Kokkos::HostSpace>;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double largest = std::numeric_limits<double>::max();
constexpr double smallest = std::numeric_limits<double>::denorm_min();
const double nan = std::numeric_limits<double>::quiet_NaN();

std::uint64_t bits(double value) {
  return std::bit_cast<std::uint64_t>(value);
}

/// J. R. Shewchuk's expansions, as math.fsum() of Python has them: the sum rounded once. No sum on the way
/// may overflow.
double reference(const Numbers& values) {
  Numbers parts; // of growing size, without common bits
  for (double x : values) {
    std::size_t kept = 0;
    for (double y : parts) {
      if (std::abs(x) < std::abs(y)) std::swap(x, y);
      const double high = x + y;
      const double low = y - (high - x);
      if (low != 0) parts[kept++] = low;
      x = high;
    }
    parts.resize(kept);
    parts.push_back(x);
  }
  if (parts.empty()) return 0;
  double high = parts.back();
  double low = 0;
  auto n = parts.size() - 1;
  while (n > 0 && low == 0) {
    const double x = high;
    const double y = parts[--n];
    high = x + y;
    low = y - (high - x);
  }
  if (n > 0 && ((low < 0 && parts[n - 1] < 0) || (low > 0 && parts[n - 1] > 0))) { // beyond the middle of two
    const double twice = 2 * low;
    const double other = high + twice;
    if (twice == other - high) high = other;
  }
  return high + 0.0; // 0 is positive
}

template <class Kernels>
Digits accumulator_of(const Numbers& values) {
  const typename Kernels::execution_space instance;
  using Memory = typename Kernels::memory_space;
  const Kokkos::View<double*, Kokkos::HostSpace> host("host", values.size());
  std::copy(values.begin(), values.end(), host.data());
  const auto x = Kokkos::create_mirror_view_and_copy(Memory(), host);
  Kernels sums(1);
  sums.add(instance, 0, static_cast<std::int64_t>(values.size()), sums::detail::Element<decltype(x)>{x});
  const Kokkos::View<std::int64_t*, Memory> taken("taken", sums::length);
  sums.take(instance, taken.data());
  Digits digits("digits", sums::length);
  Kokkos::deep_copy(digits, taken);
  sums::carry(digits.data());
  return digits;
}

Digits one_by_one(const Numbers& values) {
  Digits digits("digits", sums::length);
  for (const double value : values) sums::add_value(digits.data(), value);
  sums::carry(digits.data());
  return digits;
}

void expect_sum(const Numbers& values, double sum) {
  const auto expected = one_by_one(values);
  EXPECT_EQ(bits(sums::rounded(expected.data())), bits(sum))
      << sums::rounded(expected.data()) << " instead of " << sum;
  const auto on_host = accumulator_of<HostKernels>(values);
  const auto on_device = accumulator_of<DeviceKernels>(values);
  for (int i = 0; i < sums::length; ++i) {
    ASSERT_EQ(on_host(i), expected(i)) << "kernel of a host, place " << i;
    ASSERT_EQ(on_device(i), expected(i)) << "kernel of a device, place " << i;
  }
}

TEST(ExactSum, OfFewValues) {
  const double next_to_1 = 1 + 0x1p-52;
  const std::vector<std::pair<Numbers, double>> cases{
      {{}, 0.0},
      {{0.0, 0.0}, 0.0},
      {{-0.0, -0.0}, 0.0}, // as said
      {{-0.0}, 0.0},
      {{1.0}, 1.0},
      {{-1.5}, -1.5},
      {{0.1, 0.2, 0.3}, 0.6}, // from left to right it is 0.6000000000000001
      {{1e308, 1, -1e308}, 1.0},
      {{1, 1e100, 1, -1e100}, 2.0},
      {{1e308, 1e308, -1e308, -1e308, 1e-300}, 1e-300},
      {{largest, largest, -largest}, largest},
      {{largest, largest}, infinity},
      {{-largest, -largest}, -infinity},
      {{largest, 0x1p970}, infinity}, // half of the last bit: to the even one, which is none
      {{largest, 0x1p970, -smallest}, largest},
      {{-largest, -0x1p970, smallest}, -largest},
      {{smallest}, smallest},
      {{smallest, smallest, -3 * smallest}, -smallest},
      {{0x1p-1022, -smallest}, 0x1p-1022 - smallest},
      {{0x1p-1022, smallest}, 0x1p-1022 + smallest},
      {{0x0.8p-1022, 0x0.8p-1022}, 0x1p-1022},
      {{0x1p1023, smallest, -0x1p1023}, smallest},
      {{1, 0x1p-53}, 1.0}, // halves go to the even one
      {{1, 0x1p-53, smallest}, next_to_1},
      {{1, 0x1p-53, -smallest}, 1.0},
      {{next_to_1, 0x1p-53}, 1 + 0x1p-51},
      {{next_to_1, 0x1p-53, -smallest}, next_to_1},
      {{-1, -0x1p-53}, -1.0},
      {{-next_to_1, -0x1p-53}, -1 - 0x1p-51},
      {{0x1p53, 1, 1}, 0x1p53 + 2},
      {{infinity}, infinity},
      {{infinity, -1, largest}, infinity},
      {{-infinity, 1}, -infinity},
      {{infinity, -infinity}, nan},
      {{nan, 1}, nan},
      {{-nan}, nan},
      {{infinity, nan}, nan},
  };
  for (auto [values, sum] : cases) {
    SCOPED_TRACE(testing::PrintToString(values));
    std::sort(values.begin(), values.end(), [](double a, double b) { return bits(a) < bits(b); });
    do expect_sum(values, sum);
    while (std::next_permutation(values.begin(), values.end(),
                                 [](double a, double b) { return bits(a) < bits(b); }));
  }
}

/// Values whose exponents lie in a range.
Numbers random_values(std::size_t count, int lowest, int highest, unsigned seed) {
  std::mt19937_64 random(seed);
  Numbers values(count);
  for (double& value : values) {
    const auto r = random();
    const auto exponent = lowest + static_cast<int>(r % static_cast<unsigned>(highest - lowest + 1));
    value = std::ldexp(1 + static_cast<double>(r >> 20 & 0xfffffffffff) * 0x1p-44, exponent);
    if (r >> 11 & 1) value = -value;
  }
  return values;
}

TEST(ExactSum, OfManyValuesInAnyOrder) {
  for (const auto& [lowest, highest] :
       {std::pair{-1, 1}, {-60, 60}, {-1074, -1000}, {-1074, 1010}, {900, 1012}})
    for (const int count : {1, 2, 511, 512, 513, 3000, 9000}) {
      SCOPED_TRACE(std::to_string(count) + " values of 2^" + std::to_string(lowest) + " to 2^" +
                   std::to_string(highest));
      auto values = random_values(static_cast<std::size_t>(count), lowest, highest, 7);
      const double sum = reference(values);
      expect_sum(values, sum);
      std::sort(values.begin(), values.end());
      expect_sum(values, sum);
      const auto twice = values.size();
      for (std::size_t i = 0; i < twice; ++i) values.push_back(-values[i]);
      values.push_back(smallest);
      expect_sum(values, smallest);
    }
}

/// Values just below the largest, more than a double can count, and growing ones.
TEST(ExactSum, OfLargeValues) {
  Numbers values(5000, largest);
  expect_sum(values, infinity);
  for (std::size_t i = 0; i < 5000; ++i) values.push_back(i % 2 == 0 ? -largest : -0x1p1020);
  for (std::size_t i = 0; i < 5000; ++i) values.push_back(i % 2 == 0 ? -largest : 0x1p1020);
  values.push_back(0.75);
  expect_sum(values, 0.75);
  values.clear();
  for (int e = -1074; e < 1023; ++e) values.push_back(std::ldexp(1, e));
  expect_sum(values, 0x1p1023);
}

TEST(ExactSum, OfManyEqualValues) {
  int size = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size > 1) GTEST_SKIP() << "it is the same on each rank";
  constexpr std::int64_t count = 10'000'000;
  const double tenth = 0.1;
  sums::BlockSum sum;
  std::int64_t digits[sums::length] = {};
  for (std::int64_t at = 0; at < count; at += sums::BlockSum::room) {
    const auto n = std::min<std::int64_t>(sums::BlockSum::room, count - at);
    std::fill_n(sum.values(), n, tenth);
    sum.add(static_cast<int>(n));
  }
  sum.move_to(digits);
  const auto mantissa = static_cast<__int128>(tenth * 0x1p56); // exact
  EXPECT_EQ(sums::rounded(digits), static_cast<double>(mantissa * count) * 0x1p-56);
  // Blocks of which each takes several levels, more than have room in 64 bits.
  constexpr int blocks = 9 << 20;
  for (int n = 0; n < blocks; ++n) {
    sum.values()[0] = 0x1p206 - 0x1p166;
    sum.values()[1] = 0x1p-200;
    sum.add(2);
  }
  std::int64_t more[sums::length] = {};
  sum.move_to(more);
  sums::add_value(more, -9 * (0x1p226 - 0x1p186));
  EXPECT_EQ(sums::rounded(more), 9 * 0x1p-180);
}

/// This rank's values of all: in one of several ways, which leave some ranks without any.
Numbers part_of(const Numbers& all, const Communicator& comm, int way) {
  Numbers mine;
  const auto size = static_cast<std::size_t>(comm.size());
  const auto rank = static_cast<std::size_t>(comm.rank());
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto owner = way == 0   ? i % size
                       : way == 1 ? i * size / all.size()
                       : way == 2 ? (i < 10 ? 0 : size - 1)
                                  : (i * i + i / 7) % size;
    if (owner == rank) mine.push_back(all[i]);
  }
  return mine;
}

auto on_device(const Numbers& values) {
  const Kokkos::View<double*, Kokkos::HostSpace> host("host", values.size());
  std::copy(values.begin(), values.end(), host.data());
  return Kokkos::create_mirror_view_and_copy(Space::memory_space(), host);
}

struct SumAndSquare {
  Kokkos::View<double*, Space::memory_space> x;
  KOKKOS_INLINE_FUNCTION Kokkos::Array<double, 2> operator()(std::int64_t i) const {
    return {x(i), x(i) * x(i)};
  }
};
struct Table {
  Kokkos::View<double*, Space::memory_space> x;
  std::int64_t length;
  KOKKOS_INLINE_FUNCTION double operator()(std::int64_t row, std::int64_t i) const {
    return x(row * length + i);
  }
};

void expect_results(const ExactSums<>& sums, const Numbers& expected, const char* what) {
  const auto found = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), sums.results());
  for (std::size_t k = 0; k < expected.size(); ++k)
    EXPECT_EQ(bits(found(k)), bits(expected[k])) << what << ", sum " << k;
}

TEST(ExactSums, AreTheSameOnAnyNumberOfRanks) {
  const Communicator comm(MPI_COMM_WORLD);
  const Space instance;
  const auto x = random_values(6007, -70, 20, 1);
  const auto y = random_values(6007, -40, 90, 2);
  Numbers products;
  Numbers squares;
  for (std::size_t i = 0; i < x.size(); ++i) {
    products.push_back(x[i] * y[i]);
    squares.push_back(x[i] * x[i]);
  }
  const double dot = reference(products);
  const double sum = reference(x);
  ExactSums<> sums(comm, "dots", 5);
  for (int way = 0; way < 4; ++way) {
    const auto my_x = on_device(part_of(x, comm, way));
    const auto my_y = on_device(part_of(y, comm, way));
    const auto n = static_cast<std::int64_t>(my_x.extent(0));
    sums.add_dot(instance, 0, my_x, my_y);
    sums.add_sum(instance, 1, my_x);
    sums.add<2>(instance, 2, n, SumAndSquare{my_x});
    sums.add_rows(instance, 4, n / 7, 7, Table{my_x, 7});
    const auto rest = Kokkos::subview(my_x, std::pair(n / 7 * 7, n));
    sums.add_sum(instance, 4, rest);
    sums.start(instance);
    sums.add_sum(instance, 3, my_y); // for the next time
    sums.progress();
    sums.finish(instance);
    expect_results(sums, {dot, sum, sum, reference(squares), sum}, "first");
    sums.start(instance);
    sums.finish(instance);
    expect_results(sums, {0, 0, 0, reference(y), 0}, "second");
    sums.add_sum(instance, 1, my_y);
    sums.clear(instance);
  }
}

TEST(ExactSums, OfFloats) {
  const Communicator comm(MPI_COMM_WORLD);
  const Space instance;
  const Kokkos::View<float*, Space::memory_space> x("x", 3);
  Kokkos::deep_copy(x, 0x1.000002p100f);
  ExactSums<> sums(comm, "floats", 1);
  sums.add_dot(instance, 0, x, x);
  sums.start(instance);
  sums.finish(instance);
  expect_results(sums, {3.0 * comm.size() * (0x1.000002p100 * 0x1.000002p100)}, "products in double");
}

void expect_words(const std::string& text, const char* fact) {
  EXPECT_NE(text.find(fact), std::string::npos) << "'" << fact << "' is not in: " << text;
}

TEST(ExactSums, Misuse) {
  const Communicator comm(MPI_COMM_WORLD);
  const Space instance;
  const Kokkos::View<double*, Space::memory_space> two("two", 2), three("three", 3);
  ExactSums<> sums(comm, "dots", 2);
  expect_words(text_of<CallError>([&] { sums.finish(instance); }), "'dots': finish() without start()");
  sums.start(instance);
  expect_words(text_of<CallError>([&] { sums.start(instance); }), "'dots': start() again before finish()");
  sums.finish(instance);
  expect_words(text_of<std::out_of_range>([&] { sums.add_sum(instance, 2, two); }), "there are 2");
  expect_words(text_of<std::out_of_range>([&] { sums.add_sum(instance, -1, two); }), "sum -1");
  const auto text = text_of<CallError>([&] { sums.add_dot(instance, 0, two, three); });
  for (const auto* fact : {"'two' (2)", "'three' (3)"}) expect_words(text, fact);
  if (comm.size() == 1) return;
  const int last = comm.size() - 1;
  const auto counts = text_of<AgreedError>([&] { ExactSums<>(comm, "dots", comm.rank() == last ? 3 : 2); });
  for (const auto* fact : {"'dots'", "(112)", "(168)"}) expect_words(counts, fact);
}

} // namespace
} // namespace kontor::comm::test
