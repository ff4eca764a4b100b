// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/views/layout.hpp>

#include <cstdint>

namespace kontor::comm {

/// Into contiguous memory, or out of it.
enum class PackDirection : std::uint8_t { pack, unpack };

/// One piece of an array and its place in contiguous memory.
struct Piece {
  void* array = nullptr;                 ///< the element at (0, 0, ...)
  void* packed = nullptr;                ///< of as many elements, in the order of the loops
  LoopNest nest;                         ///< over the elements
  std::uint32_t size = 1;                ///< bytes of an element
  const std::int64_t* indices = nullptr; ///< where rows go by index: of each row, in host memory
};

/// All of the View, whose elements lie at `packed` in that order.
inline Piece piece_of(const Buffer& view, void* packed, const WireOrder& order) {
  return {view.data, packed, loop_nest(view.shape, order), view.scalar.size, view.rows.indices};
}

/// A Piece that is added to an array, and the rank that it comes from.
struct SummedPiece {
  Piece piece;
  Scalar scalar;
  int rank = 0;
};

} // namespace kontor::comm
