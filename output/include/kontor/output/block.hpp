// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

namespace kontor::output {

/// What a dataset of values may consist of.
template <class T>
concept FieldScalar =
    std::same_as<T, double> || std::same_as<T, float> || std::same_as<T, std::int32_t> || std::same_as<T, std::int64_t>;

/// The same as a value.
enum class Scalar { float64, float32, int32, int64 };

template <FieldScalar T>
inline constexpr Scalar scalar_of = std::same_as<T, double>         ? Scalar::float64
                                    : std::same_as<T, float>        ? Scalar::float32
                                    : std::same_as<T, std::int32_t> ? Scalar::int32
                                                                    : Scalar::int64;

/// "float64", "float32", "int32" or "int64".
std::string_view name_of(Scalar);

/// This rank's part of a C-order array of rank 1 to 3, slowest dimension first.
struct Block {
  std::vector<std::uint64_t> global; ///< extents of the whole array
  std::vector<std::uint64_t> offset; ///< where the part begins
  std::vector<std::uint64_t> extent; ///< extents of the part; one of 0: this rank has no part
};

/// A part of a block, in indices of the block.
struct Box {
  std::vector<std::uint64_t> offset; ///< of its first element
  std::vector<std::uint64_t> extent; ///< elements along each dimension
};

/// Copies the values of a box to `to`, contiguous in C order.
template <FieldScalar T>
using Fetch = std::function<void(const Box& box, T* to)>;

/// Takes in the values of a box from `from`, contiguous in C order.
template <FieldScalar T>
using Store = std::function<void(const Box& box, const T* from)>;

} // namespace kontor::output
