// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/views/buffer.hpp>

#include <array>
#include <cstdint>

/// In which order the elements of an array travel. No Kokkos and no MPI in this file.
namespace kontor::comm {

/// Whether two elements, of different indices, share memory: none can be received there. Of a shape by_index the rows
/// are taken one after the other, whatever the list.
bool overlaps_itself(const Shape&);

/// The order of an array's dimensions on the wire, slowest first: a permutation of 0..rank-1.
struct WireOrder {
  int rank = 0;                     ///< the number of dimensions
  std::array<int, max_rank> dims{}; ///< the slowest first
  bool operator==(const WireOrder&) const = default;
};

/// The product of the extents.
std::int64_t element_count(const Shape&);

/// The bytes of all elements.
inline std::int64_t byte_count(const Buffer& buffer) { return element_count(buffer.shape) * buffer.scalar.size; }

/// So many bytes or, up to the next multiple of the alignment, more.
constexpr std::int64_t aligned(std::int64_t bytes, std::int64_t alignment) {
  return (bytes + alignment - 1) / alignment * alignment;
}

/// The order in which the elements lie: dimensions by falling stride; those of extent 1, whose strides mean nothing,
/// come first.
WireOrder storage_order(const Shape&);

/// Whether the elements lie one after the other when the dimensions are walked in this order. Rows by index do not,
/// whatever the indices.
bool is_contiguous(const Shape&, const WireOrder&);

/// The order in which both ends of a message write and read its elements, so that equal logical indices meet. A
/// contiguous end decides, the sender first: it travels as it lies and only the other end reorders. Where neither is
/// contiguous, the sender's fastest dimension comes last.
/// Both ends call this with the same two shapes and so get the same answer.
WireOrder wire_order(const Shape& sender, const Shape& receiver);

/// A loop nest over an array's elements in wire order, slowest loop first: dimensions of extent 1 are left out and
/// dimensions that lie end to end are merged, so a contiguous array has at most one loop.
struct LoopNest {
  int depth = 0;                           ///< the number of loops
  std::int64_t extents[max_rank + 1] = {}; ///< steps of each loop; not a std::array, whose [] is the host's
  std::int64_t strides[max_rank + 1] = {}; ///< elements from one step to the next
  int indexed = -1;                        ///< the loop over rows by index, if there is one
};

/// The loops over an array of this shape in this order.
LoopNest loop_nest(const Shape&, const WireOrder&);

/// How many steps the slowest `loops` make together.
std::int64_t step_count(const LoopNest&, int loops);

/// The element at which step `i` of the slowest `loops` arrives. `indices` are those of rows by index.
std::int64_t offset_of(const LoopNest&, int loops, std::int64_t i, const std::int64_t* indices);

/// The same loops over the words of which an element has so many: at least one loop.
LoopNest in_words(LoopNest, std::int64_t words_per_element);

/// The shape of an array after packing: equal extents, contiguous in wire order.
Shape packed_shape(const Shape&, const WireOrder&);

} // namespace kontor::comm
