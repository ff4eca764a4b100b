// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "matmul/algorithm/panels.hpp"
#include "matmul/algorithm/process_grid.hpp"
#include "matmul/problem/matrix.hpp"
#include "run/record/timers.hpp"

#include <kontor/comm/exchange.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string>

namespace kontor::matmul {

/// The blocks of A in a row of ranks, or of B in a column: what is equal on all ranks of the ring.
struct RingShape {
  std::int64_t across = 0; ///< rows of op(A), columns of op(B)
  std::int64_t panels = 1; ///< of a block
  std::int64_t offset = 0; ///< the panel that rank 0 of the ring multiplies first
  std::int64_t shifts = 0; ///< how often blocks move on
  bool k_is_rows = false;  ///< as it is stored, the rows of a block are numbered along k
  bool restores = true;    ///< blocks must be back where they came from after the product
};

/// Local. Elements of the largest block of a ring.
std::int64_t largest_block(const Panels&, const RingShape&);

/// Local. Elements that the rank at that place of a ring packs at both ends of the skew and of the way back: rows of
/// its block come from two ranks, and those of each do not lie in one piece.
std::int64_t packed_elements(const Panels&, const RingShape&, int ranks, int place);

/// A rank's block of A or B, which moves around a ring of ranks: skewed, then from each rank to the one before it, and
/// in the end back to where it came from. Two buffers take the blocks in turn. Each has room for the largest block of
/// the ring, and a shift moves all of it, so two exchanges do for all shifts, however uneven the blocks are.
template <class T>
class RingBlock {
 public:
  /// Collective over all ranks, each with its ring. Allocates and commits the exchanges. `alone`: the instance of
  /// skew() and restore(); `beside`: of the shifts.
  RingBlock(const RingRanks& ring, const std::string& label, const Panels&, const RingShape&, const Space& alone,
            const Space& beside);

  /// Local. This rank's block as it is given. Valid before skew() and after restore().
  Matrix<T> natural() const;
  /// Local; before a repeat. Makes the next one begin with the buffers as the first did; where blocks are not restored,
  /// natural() then has room for them, and nothing else.
  void reset();
  /// Local; after reset(). What is to arrive becomes no number, so that a block of the last repeat cannot stand in for
  /// one that does not come.
  void invalidate();

  /// Collective over all ranks; ordered on its instance. Moves blocks to where they are multiplied first.
  void skew();
  /// Collective over all ranks. Begins to bring the next block; the current one may be read meanwhile.
  void start_shift();
  /// Collective over all ranks. The next block is current, for what the instance is given next.
  void finish_shift();
  /// Local. In place of a shift: nothing moves, and the current block takes the shape of the next one.
  void skip_shift();
  /// Local. After shifts that were skipped: the block as it is given is current again.
  void rewind();
  /// Collective over all ranks; after all shifts. Moves blocks back to where they were before skew(), if the shape says
  /// so.
  void restore();

  /// Local. The part of the current block that has panels `first` to before `first + count`, numbered around from the
  /// beginning of the block that this rank multiplies first.
  Matrix<T> panels(std::int64_t first, std::int64_t count) const;
  /// Whether the ranks are one: nothing moves.
  bool stays() const { return ranks_ == 1; }

  /// Elements that this rank sends: in skew(), in all shifts, in restore().
  struct Sent {
    std::int64_t skew = 0;
    std::int64_t shifts = 0;
    std::int64_t restore = 0;
  };
  Sent sent() const;
  /// Local. What the phases of shifts took since the last call becomes the regions pack, post, wait, unpack.
  void add_times(miniapp::Timers&);
  /// Local. Host seconds in shifts since the last add_times().
  double seconds_of_shifts() const;
  /// Of the shifts; null if there are none.
  const comm::Exchange<Buffer<T>>* shift() const { return shifts_[0] ? &*shifts_[0] : nullptr; }

 private:
  using Exchange = comm::Exchange<Buffer<T>>;
  enum class Direction { skew, restore };

  std::int64_t first_natural() const { return rank_ * shape_.panels; }
  Matrix<T> block_in(int buffer, std::int64_t first_panel) const;
  Exchange rotation(const RingRanks& ring, const std::string& label, std::int64_t offset, Direction, int from,
                    const Space&) const;

  Panels panels_;
  RingShape shape_;
  int ranks_; ///< of the ring
  int rank_;  ///< this one's place in it
  int self_;  ///< its number in the communicator
  std::array<Buffer<T>, 2> buffers_;
  int start_ = 0;   ///< the buffer that the first block is multiplied in
  int current_ = 0; ///< the buffer of the current block
  int home_ = 0;    ///< the buffer that restore() leaves the natural block in
  std::int64_t shifted_ = 0;
  std::optional<Exchange> skew_;
  std::array<std::optional<Exchange>, 2> shifts_; ///< those of even and of odd number
  std::optional<Exchange> restore_;
};

} // namespace kontor::matmul
