// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "views/overlap.hpp"

#include <kontor/comm/views/layout.hpp>

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <vector>

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
  Sizes strides(extents.size(), 1);
  for (int d = static_cast<int>(extents.size()) - 2; d >= 0; --d) strides[d] = strides[d + 1] * extents[d + 1];
  return shape_of(extents, strides);
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

TEST(WireOrder, ContiguousSenderDecides) {
  EXPECT_EQ(wire_order(left({3, 4, 5}), right({3, 4, 5})), order_of({2, 1, 0}));
  EXPECT_EQ(wire_order(right({3, 4, 5}), left({3, 4, 5})), order_of({0, 1, 2}));
  EXPECT_EQ(wire_order(left({3, 4, 5}), strided({3, 4, 5})), order_of({2, 1, 0}));
}

TEST(WireOrder, ContiguousReceiverDecidesForAStridedSender) {
  EXPECT_EQ(wire_order(strided({3, 4, 5}), left({3, 4, 5})), order_of({2, 1, 0}));
}

TEST(WireOrder, SendersFastestDimensionIsLastWhereNeitherIsContiguous) {
  EXPECT_EQ(wire_order(shape_of({3, 4, 5}, {8, 100, 2}), strided({3, 4, 5})), order_of({1, 0, 2}));
}

/// The end that decides travels as it lies, whichever of the two it is.
TEST(WireOrder, OneEndIsInOnePieceIfEitherIsContiguous) {
  const Sizes extents{3, 4, 5};
  const std::vector<Shape> contiguous{left(extents), right(extents), shape_of(extents, {4, 1, 12})};
  for (const auto& shape : contiguous) {
    EXPECT_TRUE(is_contiguous(shape, wire_order(shape, strided(extents))));
    EXPECT_TRUE(is_contiguous(shape, wire_order(strided(extents), shape)));
    EXPECT_TRUE(is_contiguous(shape, wire_order(shape, shape)));
    for (const auto& other : contiguous) EXPECT_TRUE(is_contiguous(shape, wire_order(shape, other)));
  }
}

TEST(WireOrder, ExtentsOfOneDoNotMatter) {
  const auto odd = shape_of({1, 6, 1}, {77, 1, 99});
  EXPECT_TRUE(is_contiguous(odd, wire_order(odd, left({1, 6, 1}))));
  EXPECT_TRUE(is_contiguous(odd, wire_order(left({1, 6, 1}), odd)));
}

TEST(Contiguous, GapsAndOrder) {
  EXPECT_TRUE(is_contiguous(right({3, 4}), order_of({0, 1})));
  EXPECT_FALSE(is_contiguous(right({3, 4}), order_of({1, 0})));
  EXPECT_FALSE(is_contiguous(strided({3, 4}), order_of({0, 1})));
  EXPECT_FALSE(is_contiguous(shape_of({4}, {2}), order_of({0})));
  EXPECT_TRUE(is_contiguous(shape_of({1}, {2}), order_of({0})));
  EXPECT_TRUE(is_contiguous(shape_of({}, {}), order_of({})));
}

TEST(Contiguous, WhatIsEmptyIs) {
  EXPECT_TRUE(is_contiguous(shape_of({0}, {7}), order_of({0})));
  EXPECT_TRUE(is_contiguous(shape_of({3, 0, 2}, {5, 3, 9}), order_of({2, 0, 1})));
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
}

TEST(LoopNest, LeavesOutExtentsOfOne) {
  expect_nest(loop_nest(shape_of({1, 4, 1}, {5, 3, 17}), order_of({0, 1, 2})), {4}, {3});
  expect_nest(loop_nest(shape_of({1, 1}, {5, 3}), order_of({0, 1})), {}, {});
}

TEST(LoopNest, NothingToDo) {
  const auto nest = loop_nest(shape_of({3, 0}, {5, 3}), order_of({0, 1}));
  EXPECT_EQ(nest.depth, 1);
  EXPECT_EQ(nest.extents[0], 0);
}

TEST(PackedShape, IsContiguousInTheOrderOfTheWire) {
  const auto order = order_of({1, 2, 0});
  const auto packed = packed_shape(strided({3, 4, 5}), order);
  EXPECT_TRUE(is_contiguous(packed, order));
  EXPECT_EQ(element_count(packed), 60);
  EXPECT_EQ(packed.strides[0], 1);
  EXPECT_EQ(packed.strides[2], 3);
  EXPECT_EQ(packed.strides[1], 15);
}

TEST(BufferText, Scalars) {
  EXPECT_EQ(to_string(Scalar{ScalarKind::signed_integer, 4}), "int32");
  EXPECT_EQ(to_string(Scalar{ScalarKind::unsigned_integer, 1}), "uint8");
  EXPECT_EQ(to_string(Scalar{ScalarKind::floating, 4}), "float");
  EXPECT_EQ(to_string(Scalar{ScalarKind::floating, 8}), "double");
  EXPECT_EQ(to_string(Scalar{ScalarKind::floating, 16}), "16-byte floating point");
  EXPECT_EQ(to_string(Scalar{ScalarKind::complex, 16}), "complex<double>");
  EXPECT_EQ(to_string(Scalar{ScalarKind::complex, 8}), "complex<float>");
  EXPECT_EQ(to_string(Scalar{ScalarKind::bytes, 48}), "48-byte struct");
}

TEST(BufferText, Extents) {
  EXPECT_EQ(extents_to_string(left({})), "()");
  EXPECT_EQ(extents_to_string(left({4})), "(4)");
  EXPECT_EQ(extents_to_string(left({4, 5})), "(4, 5)");
}

/// The bytes of an array.
std::set<const std::byte*> bytes_of(const Buffer& buffer) {
  std::vector<std::int64_t> places{0};
  for (int d = 0; d < buffer.shape.rank; ++d) {
    std::vector<std::int64_t> more;
    for (const auto place : places)
      for (std::int64_t i = 0; i < buffer.shape.extents[d]; ++i) more.push_back(place + i * buffer.shape.strides[d]);
    places = more;
  }
  std::set<const std::byte*> bytes;
  for (const auto place : places)
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

/// Columns and rows of a large array are told apart at once.
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
