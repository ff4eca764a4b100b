// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

/// What a View becomes below the templates: no Kokkos and no MPI in this file.
namespace kontor::comm {

inline constexpr int max_rank = 8;

enum class ScalarKind : std::uint8_t { signed_integer, unsigned_integer, floating, complex, bytes };

/// The type of one element: what it is, and how many bytes it takes.
struct Scalar {
  ScalarKind kind = ScalarKind::bytes;
  std::uint32_t size = 1;
  bool operator==(const Scalar&) const = default;
};

enum class MemoryKind : std::uint8_t { host, device };

/// Extents and strides of an array, both in elements. Entries at and above `rank` are 1 and 0.
struct Shape {
  int rank = 0;
  std::array<std::int64_t, max_rank> extents{1, 1, 1, 1, 1, 1, 1, 1};
  std::array<std::int64_t, max_rank> strides{};
};

/// An array of any rank, layout and scalar, without its C++ type. Does not own the memory.
struct Buffer {
  void* data = nullptr;
  Scalar scalar;
  Shape shape;
  MemoryKind memory = MemoryKind::host;
  std::string label;
};

/// "double", "complex<float>", "int32", "48-byte struct"
std::string to_string(Scalar);
/// "(4, 5)"; "()" for rank 0
std::string extents_to_string(const Shape&);

} // namespace kontor::comm
