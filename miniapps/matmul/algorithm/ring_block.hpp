// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "machine/first_touch.hpp"
#include "matmul/algorithm/panels.hpp"
#include "matmul/algorithm/process_grid.hpp"
#include "matmul/problem/matrix.hpp"
#include "run/record/timers.hpp"

#include <kontor/comm/exchange.hpp>

#include <array>
#include <limits>
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

/// How far the blocks of a ring have to go, in panels.
struct BlockRoute {
  std::int64_t skew = 0, restore = 0;
  bool stays_in_first = false; ///< nothing has come into the first of the two buffers

  BlockRoute(const Panels& panels, const RingShape& shape)
      : skew(shape.offset % panels.count), stays_in_first((skew > 0 ? 1 : 0) + shape.shifts <= 1) {
    if (shape.restores && !stays_in_first) restore = (shape.offset + shape.shifts * shape.panels) % panels.count;
  }
};

/// Local. Elements of the largest block of a ring.
inline std::int64_t largest_block(const Panels& panels, const RingShape& shape) {
  const auto all = panels.k * shape.panels;
  return shape.across * ((all + panels.count - 1) / panels.count);
}

/// Local. Elements that the rank at that place of a ring packs at both ends of the skew and of the way back: rows of
/// its block come from two ranks, and those of each do not lie in one piece.
inline std::int64_t packed_elements(const Panels& panels, const RingShape& shape, int ranks, int place) {
  if (ranks == 1 || !shape.k_is_rows) return 0;
  const BlockRoute way(panels, shape);
  const auto own = place * shape.panels;
  std::int64_t rows = 0;
  for (const auto offset : {way.skew, way.restore})
    if (offset % shape.panels > 0) rows += panels.size(own, shape.panels) + panels.size(offset + own, shape.panels);
  return rows * shape.across;
}

/// A rank's block of A or B, which moves around a ring of ranks: skewed, then from each rank to the one before it, and
/// in the end back to where it came from. Two buffers take the blocks in turn. Each has room for the largest block of
/// the ring, and a shift moves all of it, so two exchanges do for all shifts, however uneven the blocks are.
template <class T>
class RingBlock {
 public:
  /// Collective over all ranks, each with its ring. Allocates and commits the exchanges. `alone`: the instance of
  /// skew() and restore(); `beside`: of the shifts.
  RingBlock(const RingRanks& ring, const std::string& label, const Panels& panels, const RingShape& shape,
            const Space& alone, const Space& beside)
      : panels_(panels), shape_(shape), ranks_(ring.size()), rank_(ring.place), self_(ring.method.comm().rank()) {
    const auto room = largest_block(panels, shape);
    buffers_[0] = miniapp::zeroed<T>("matmul/" + label, static_cast<std::size_t>(room));
    if (stays()) return;
    buffers_[1] = miniapp::zeroed<T>("matmul/" + label + " next", static_cast<std::size_t>(room));
    // Rings whose blocks are where they belong take part in the exchanges, with nothing to send.
    const BlockRoute way(panels, shape);
    start_ = way.skew > 0 ? 1 : 0;
    for (int n = 0; n < std::min<std::int64_t>(shape.shifts, 2); ++n) {
      const int from = (start_ + n) % 2;
      auto& shift = shifts_[n].emplace(ring.method.comm(), "shift of " + label, beside);
      shift.add(buffers_[from], ring.rank(-1), buffers_[1 - from], ring.rank(+1));
      ring.method.commit<T>(shift);
      shift.measure_times();
    }
    skew_.emplace(rotation(ring, "skew of " + label, way.skew, Direction::skew, 0, alone));
    const int last = static_cast<int>((start_ + shape.shifts) % 2);
    restore_.emplace(rotation(ring, "restore of " + label, way.restore, Direction::restore, last, alone));
    home_ = way.stays_in_first ? 0 : way.restore > 0 ? 1 - last : last;
  }

  /// Local. This rank's block as it is given. Valid before skew() and after restore().
  Matrix<T> natural() const { return block_in(current_, first_natural()); }
  /// Local; before a repeat. Makes the next one begin with the buffers as the first did; where blocks are not restored,
  /// natural() then has room for them, and nothing else.
  void reset() {
    if (current_ != 0 && shape_.restores) Kokkos::deep_copy(buffers_[0], buffers_[1]);
    rewind();
  }
  /// Local; after reset(). What is to arrive becomes no number, so that a block of the last repeat cannot stand in for
  /// one that does not come.
  void invalidate() {
    const auto none = std::numeric_limits<T>::quiet_NaN();
    if (!shape_.restores) Kokkos::deep_copy(buffers_[0], none);
    if (!stays()) Kokkos::deep_copy(buffers_[1], none);
  }

  /// Collective over all ranks; ordered on its instance. Moves blocks to where they are multiplied first.
  void skew() {
    if (skew_) run<T>(*skew_);
    current_ = start_;
  }
  /// Collective over all ranks. Begins to bring the next block; the current one may be read meanwhile.
  void start_shift() { shifts_[shifted_ % 2]->start(); }
  /// Collective over all ranks. The next block is current, for what the instance is given next.
  void finish_shift() {
    shifts_[shifted_ % 2]->finish();
    skip_shift();
  }
  /// Local. In place of a shift: nothing moves, and the current block takes the shape of the next one.
  void skip_shift() {
    current_ = 1 - current_;
    ++shifted_;
  }
  /// Local. After shifts that were skipped: the block as it is given is current again.
  void rewind() {
    current_ = 0;
    shifted_ = 0;
  }
  /// Collective over all ranks; after all shifts. Moves blocks back to where they were before skew(), if the shape says
  /// so.
  void restore() {
    if (restore_) run<T>(*restore_);
    current_ = home_;
    shifted_ = 0;
  }

  /// Local. The part of the current block that has panels `first` to before `first + count`, numbered around from the
  /// beginning of the block that this rank multiplies first.
  Matrix<T> panels(std::int64_t first, std::int64_t count) const {
    const auto origin = stays() ? 0 : shape_.offset + first_natural() + shifted_ * shape_.panels;
    auto panel = shape_.offset + first_natural() + first;
    if (stays()) panel %= panels_.count;
    const auto begin = panels_.begin(panel) - panels_.begin(origin);
    return along_k(block_in(current_, origin), shape_.k_is_rows, begin, begin + panels_.size(panel, count));
  }
  /// Whether the ranks are one: nothing moves.
  bool stays() const { return ranks_ == 1; }

  /// Elements that this rank sends: in skew(), in all shifts, in restore().
  struct Sent {
    std::int64_t skew = 0;
    std::int64_t shifts = 0;
    std::int64_t restore = 0;
  };
  Sent sent() const {
    const auto elements = [&](const std::optional<Exchange>& exchange) {
      std::int64_t sum = 0;
      if (exchange)
        for (const auto& slot : exchange->slots())
          if (slot.destination != comm::no_rank && slot.destination != self_)
            sum += comm::element_count(slot.send.shape);
      return sum;
    };
    return {elements(skew_), shape_.shifts * elements(shifts_[0]), elements(restore_)};
  }
  /// Local. What the phases of shifts took since the last call becomes the regions pack, post, wait, unpack.
  void add_times(miniapp::Timers& timers) {
    for (auto& shift : shifts_) {
      if (!shift) continue;
      timers.add(shift->times());
      shift->reset_times();
    }
  }
  /// Local. Host seconds in shifts since the last add_times().
  double seconds_of_shifts() const {
    double sum = 0;
    for (const auto& shift : shifts_)
      if (shift) sum += shift->times().total();
    return sum;
  }
  /// Of the shifts; null if there are none.
  const comm::Exchange<Buffer<T>>* shift() const { return shifts_[0] ? &*shifts_[0] : nullptr; }

 private:
  using Exchange = comm::Exchange<Buffer<T>>;
  enum class Direction { skew, restore };

  std::int64_t first_natural() const { return rank_ * shape_.panels; }
  /// The block that begins with that panel, in one of the buffers.
  Matrix<T> block_in(int buffer, std::int64_t first_panel) const {
    const auto size = panels_.size(first_panel, shape_.panels);
    return shape_.k_is_rows ? matrix_in(buffers_[buffer], size, shape_.across)
                            : matrix_in(buffers_[buffer], shape_.across, size);
  }
  /// The exchange by which rank r gets the panels that follow number offset + r * panels, of which the first come from
  /// one rank and the others from the next; or the reverse. It moves nothing if the offset is 0.
  Exchange rotation(const RingRanks& ring, const std::string& label, std::int64_t offset, Direction direction, int from,
                    const Space& instance) const {
    Exchange exchange(ring.method.comm(), label, instance);
    const auto width = shape_.panels;
    const auto far = static_cast<int>(offset / width); // ranks
    const auto cut = offset % width;                   // panels of a block that come from the next rank
    const bool back = direction == Direction::restore;
    const auto own = first_natural(), first = offset + own;
    const auto natural = block_in(back ? 1 - from : from, own);
    const auto rotated = block_in(back ? from : 1 - from, first);
    const auto add = [&](std::int64_t panel, std::int64_t count, int to, std::int64_t rotated_panel, int source) {
      const auto part = [&](const Matrix<T>& block, std::int64_t begins, std::int64_t at) {
        const auto begin = panels_.size(begins, at);
        return along_k(block, shape_.k_is_rows, begin, begin + panels_.size(begins + at, count));
      };
      const auto of_natural = part(natural, own, panel), of_rotated = part(rotated, first, rotated_panel);
      if (back)
        exchange.add(of_rotated, ring.rank(source), of_natural, ring.rank(to));
      else
        exchange.add(of_natural, ring.rank(to), of_rotated, ring.rank(source));
    };
    if (offset > 0) add(cut, width - cut, -far, 0, far);
    if (cut > 0) add(0, cut, -far - 1, width - cut, far + 1);
    ring.method.commit<T>(exchange);
    return exchange;
  }

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
