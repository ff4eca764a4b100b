// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/options.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

/// What a View becomes below the templates: no Kokkos and no MPI in this file.
namespace kontor::comm {

/// The dimensions that a View can have.
inline constexpr int max_rank = 8;

/// What an element is; structs are `bytes`.
enum class ScalarKind : std::uint8_t { signed_integer, unsigned_integer, boolean, floating, complex, bytes };

/// The type of one element: what it is, and how many bytes it takes.
struct Scalar {
  ScalarKind kind = ScalarKind::bytes; ///< what it is
  std::uint32_t size = 1;              ///< bytes of the whole element
  bool operator==(const Scalar&) const = default;
};

/// Whether host code can reach the memory.
enum class MemoryKind : std::uint8_t { host, device };

/// Extents and strides of an array, both in elements. Entries at and above `rank` are 1 and 0.
struct Shape {
  int rank = 0;                                                       ///< the number of dimensions
  std::array<std::int64_t, max_rank> extents{1, 1, 1, 1, 1, 1, 1, 1}; ///< elements along each dimension
  std::array<std::int64_t, max_rank> strides{}; ///< elements from one to the next along each dimension
  bool by_index = false; ///< rows go by a list: the k-th lies indices[k] times its stride from the beginning
};

/// Of elements one after the other, or every so many.
inline Shape row_shape(std::int64_t extent, std::int64_t stride = 1) {
  Shape shape{.rank = 1};
  shape.extents[0] = extent;
  shape.strides[0] = stride;
  return shape;
}

/// Which rows of an array a Buffer is made of, where they have been chosen: those along dimension 0.
struct RowIndices {
  const std::int64_t* indices = nullptr; ///< where the Shape is by_index: of each row, in host memory
  std::int64_t begin = 0;                ///< else the first row
  std::int64_t end = 0;                  ///< and the one after the last
  std::int64_t extent = -1;              ///< rows that the array has; -1: nothing has been chosen
  std::string label;                     ///< of the list's View, for errors
};

/// An array of any rank, layout and scalar, without its C++ type. Does not own the memory.
struct Buffer {
  void* data = nullptr;                 ///< the element at (0, 0, ...); of the array where rows go by index
  Scalar scalar;                        ///< of all elements
  Shape shape;                          ///< where they lie
  MemoryKind memory = MemoryKind::host; ///< where `data` points
  std::string label;                    ///< the View's, for errors
  RowIndices rows{};                    ///< which of the View's; does not own the list either
};

/// Rows, and what owns them and their indices.
struct SelectedRows {
  Buffer buffer;                                            ///< the rows
  std::shared_ptr<const std::vector<std::int64_t>> indices; ///< null where `buffer` needs none
  std::shared_ptr<void> view{};                             ///< owns the elements
};

namespace detail {

class PinnedPool;

/// How the calls of a communicator hand Views to MPI.
struct Lowering {
  Packing packing = Packing::automatic; ///< `none` rejects Views that do not lie in one piece
  bool direct = false;                  ///< MPI takes device memory
  PinnedPool* pool = nullptr;           ///< where Views in device memory travel through elsewhere
};

} // namespace detail

/// "double", "complex<float>", "int32", "48-byte struct"
std::string to_string(Scalar);
/// "(4, 5)"; "()" for rank 0
std::string extents_to_string(const Shape&);

} // namespace kontor::comm
