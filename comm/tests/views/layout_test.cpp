// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "views/overlap.hpp"
#include "watched.hpp"

#include <kontor/comm/views/layout.hpp>

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace kontor::comm {
namespace {

using Sizes = std::vector<std::int64_t>;

Shape shape_of(const Sizes& extents, const Sizes& strides) {
  Shape shape;
  shape.rank = static_cast<int>(extents.size());
  std::copy(extents.begin(), extents.end(), shape.extents.begin());
  std::copy(strides.begin(), strides.end(), shape.strides.begin());
  return shape;
}

Shape left(const Sizes& extents) {
  Sizes strides{1};
  for (const auto extent : extents) strides.push_back(strides.back() * extent);
  strides.pop_back();
  return shape_of(extents, strides);
}

Shape right(const Sizes& extents) {
  auto shape = left({extents.rbegin(), extents.rend()});
  std::reverse(shape.extents.begin(), shape.extents.begin() + shape.rank);
  std::reverse(shape.strides.begin(), shape.strides.begin() + shape.rank);
  return shape;
}

/// What two ranks see of a part of a larger LayoutRight array.
Shape strided(const Sizes& extents) {
  auto around = extents;
  for (auto& extent : around) extent += 2;
  auto shape = right(around);
  std::copy(extents.begin(), extents.end(), shape.extents.begin());
  return shape;
}

WireOrder order_of(std::vector<int> dims) {
  WireOrder order{static_cast<int>(dims.size()), {}};
  std::copy(dims.begin(), dims.end(), order.dims.begin());
  return order;
}

/// A contiguous sender decides, then a contiguous receiver; else the sender's fastest dimension is last.
TEST(WireOrder, WhoDecides) {
  const Sizes extents{3, 4, 5};
  EXPECT_EQ(wire_order(left(extents), right(extents)), order_of({2, 1, 0}));
  EXPECT_EQ(wire_order(right(extents), left(extents)), order_of({0, 1, 2}));
  EXPECT_EQ(wire_order(left(extents), strided(extents)), order_of({2, 1, 0}));
  EXPECT_EQ(wire_order(strided(extents), left(extents)), order_of({2, 1, 0}));
  EXPECT_EQ(wire_order(shape_of(extents, {8, 100, 2}), strided(extents)), order_of({1, 0, 2}));
  // The end that decides travels as it lies, whichever of the two it is.
  const std::vector<Shape> contiguous{left(extents), right(extents), shape_of(extents, {4, 1, 12})};
  for (const auto& shape : contiguous) {
    EXPECT_TRUE(is_contiguous(shape, wire_order(strided(extents), shape)));
    for (const auto& other : {contiguous[0], contiguous[1], contiguous[2], strided(extents)})
      EXPECT_TRUE(is_contiguous(shape, wire_order(shape, other)));
  }
  const auto odd = shape_of({1, 6, 1}, {77, 1, 99}); // extents of 1 do not matter
  EXPECT_TRUE(is_contiguous(odd, wire_order(odd, left({1, 6, 1}))));
  EXPECT_TRUE(is_contiguous(odd, wire_order(left({1, 6, 1}), odd)));
}

void expect_nest(const LoopNest& nest, const Sizes& extents, const Sizes& strides) {
  ASSERT_EQ(nest.depth, static_cast<int>(extents.size()));
  for (std::size_t d = 0; d < extents.size(); ++d) {
    EXPECT_EQ(nest.extents[d], extents[d]) << d;
    EXPECT_EQ(nest.strides[d], strides[d]) << d;
  }
}

TEST(LoopNest, MergesWhatLiesEndToEnd) {
  expect_nest(loop_nest(right({3, 4, 5}), order_of({0, 1, 2})), {60}, {1});
  // rows 0..1 of planes of 4 x 5: the last two dimensions are one
  expect_nest(loop_nest(shape_of({2, 4, 5}, {100, 5, 1}), order_of({0, 1, 2})), {2, 20}, {100, 1});
  expect_nest(loop_nest(shape_of({1, 4, 1}, {5, 3, 17}), order_of({0, 1, 2})), {4}, {3});
  expect_nest(loop_nest(shape_of({1, 1}, {5, 3}), order_of({0, 1})), {}, {});
  const auto nothing = loop_nest(shape_of({3, 0}, {5, 3}), order_of({0, 1}));
  EXPECT_EQ(std::pair(nothing.depth, nothing.extents[0]), std::pair(1, std::int64_t{0}));
}

TEST(BufferText, ScalarsAndExtents) {
  const std::pair<Scalar, const char*> names[] = {
      {{ScalarKind::signed_integer, 4}, "int32"},     {{ScalarKind::unsigned_integer, 1}, "uint8"},
      {{ScalarKind::floating, 4}, "float"},           {{ScalarKind::floating, 8}, "double"},
      {{ScalarKind::complex, 16}, "complex<double>"}, {{ScalarKind::floating, 16}, "16-byte floating point"},
      {{ScalarKind::complex, 8}, "complex<float>"},   {{ScalarKind::bytes, 48}, "48-byte struct"}};
  for (const auto& [scalar, name] : names) EXPECT_EQ(to_string(scalar), name);
  EXPECT_EQ(extents_to_string(left({})), "()");
  EXPECT_EQ(extents_to_string(left({4, 5})), "(4, 5)");
}

std::set<const std::byte*> bytes_of(const Buffer& buffer) {
  const auto sizes = [&](const auto& array) {
    return std::vector<std::size_t>(array.begin(), array.begin() + buffer.shape.rank);
  };
  std::set<const std::byte*> bytes;
  for (const auto place :
       test::element_offsets(sizes(buffer.shape.extents), sizes(buffer.shape.strides), test::Order::logical))
    for (std::uint32_t b = 0; b < buffer.scalar.size; ++b)
      bytes.insert(static_cast<const std::byte*>(buffer.data) + place * buffer.scalar.size + b);
  return bytes;
}

/// Against all their bytes, one by one: arrays of any extents and strides, and parts of one array.
TEST(SharedMemory, IsFoundExactly) {
  std::mt19937 random(1);
  const auto number = [&](int low, int high) { return std::uniform_int_distribution<std::int64_t>(low, high)(random); };
  std::vector<std::byte> memory(100000);
  const auto any = [&] {
    const int rank = static_cast<int>(number(0, 3));
    Sizes extents, strides;
    for (int d = 0; d < rank; ++d) {
      extents.push_back(number(0, 5));
      strides.push_back(number(0, 30));
    }
    const auto size = static_cast<std::uint32_t>(1u << number(0, 4));
    return Buffer{memory.data() + number(0, 300), {ScalarKind::bytes, size}, shape_of(extents, strides), {}, ""};
  };
  const auto part = [&] {
    const Sizes all{6, 7, 8};
    const auto whole = number(0, 1) ? left(all) : right(all);
    auto shape = whole;
    std::int64_t place = 0;
    for (int d = 0; d < 3; ++d) {
      const auto first = number(0, static_cast<int>(all[d]) - 1);
      shape.extents[d] = number(1, static_cast<int>(all[d] - first));
      place += first * whole.strides[d];
    }
    return Buffer{memory.data() + 8 * place, {ScalarKind::floating, 8}, shape, {}, ""};
  };
  int shared = 0;
  const auto expect = [&](const Buffer& a, const Buffer& b) {
    const auto in_a = bytes_of(a);
    bool expected = false;
    for (const auto* byte : bytes_of(b)) expected = expected || in_a.contains(byte);
    EXPECT_EQ(share_memory(a, b), expected);
    shared += expected ? 1 : 0;
  };
  constexpr int times = 3000;
  for (int i = 0; i < times; ++i) {
    const auto one = any();
    const auto elements = static_cast<std::size_t>(element_count(one.shape));
    EXPECT_EQ(overlaps_itself(one.shape), bytes_of(one).size() < elements * one.scalar.size);
    expect(one, any());
    expect(part(), part());
  }
  EXPECT_GT(shared, times / 4);
  EXPECT_LT(shared, 3 * times / 2);
}

TEST(SharedMemory, IsFoundQuickly) {
  constexpr std::int64_t n = 20000;
  std::vector<double> memory(1);
  const auto at = [&](std::int64_t place, const Sizes& extents, const Sizes& strides) {
    return Buffer{memory.data() + place, {ScalarKind::floating, 8}, shape_of(extents, strides), {}, ""};
  };
  EXPECT_FALSE(share_memory(at(0, {n}, {n}), at(1, {n}, {n})));
  EXPECT_TRUE(share_memory(at(0, {n}, {n}), at(5 * n, {n}, {1})));
  EXPECT_FALSE(share_memory(at(0, {n}, {n}), at(5 * n + 1, {n - 1}, {1})));
  EXPECT_FALSE(share_memory(at(0, {n * n / 2}, {2}), at(1, {n * n / 4}, {4})));
  EXPECT_TRUE(share_memory(at(0, {n, n}, {n, 1}), at(n * n - 1, {}, {})));
}

} // namespace
} // namespace kontor::comm
