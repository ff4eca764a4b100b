// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "machine/first_touch.hpp"
#include "matmul/algorithm/panels.hpp"
#include "matmul/matrix.hpp"
#include "run/record/chosen_method.hpp"
#include "run/record/sampled_exchange.hpp"

#include <kontor/comm/exchange.hpp>

#include <array>
#include <limits>
#include <string>

namespace kontor::matmul {

using miniapp::ChosenMethod;

/// The blocks of A in a row of ranks, or of B in a column: what is equal on all ranks of the ring.
struct RingShape {
  int axis = 0;            ///< of the process grid, along which blocks move: 0 B, 1 A
  std::int64_t across = 0; ///< rows of op(A), columns of op(B)
  std::int64_t panels = 1; ///< of a block
  std::int64_t offset = 0; ///< the panel that rank 0 of the ring multiplies first
  bool k_is_rows = false;  ///< as it is stored, the rows of a block are numbered along k
};

/// How far the blocks of a ring move, in panels.
struct BlockRoute {
  std::int64_t ranks, skew, restore = 0;
  bool stays_in_first; ///< no block arrives in the first of the two buffers: the natural block is still there

  BlockRoute(const Panels& panels, const RingShape& shape)
      : ranks(panels.count / shape.panels), skew(shape.offset % panels.count),
        stays_in_first((skew > 0 ? 1 : 0) + ranks - 1 <= 1) {
    if (!stays_in_first) restore = (shape.offset + (ranks - 1) * shape.panels) % panels.count;
  }
};

/// Local. Elements of the largest block of a ring.
inline std::int64_t largest_block(const Panels& panels, const RingShape& shape) {
  const auto all = panels.k * shape.panels;
  return shape.across * ((all + panels.count - 1) / panels.count);
}

/// Local. Elements that the rank at that place of a ring packs at both ends of the skew and of the way back: rows of
/// its block come from two ranks, and those of each do not lie in one piece.
inline std::int64_t packed_elements(const Panels& panels, const RingShape& shape, int place) {
  const BlockRoute route(panels, shape);
  if (route.ranks == 1 || !shape.k_is_rows) return 0;
  const auto own = place * shape.panels;
  std::int64_t rows = 0;
  for (const auto offset : {route.skew, route.restore})
    if (offset % shape.panels > 0) rows += panels.size(own, shape.panels) + panels.size(offset + own, shape.panels);
  return rows * shape.across;
}

/// A rank's block of A or B, which moves around a ring of ranks: skewed, then from each rank to the one before it, and
/// in the end back to where it came from. Two buffers take the blocks in turn. Each has room for the largest block of
/// the ring, and a shift moves all of it, so two exchanges do for all shifts, however uneven the blocks are.
template <class T>
class RingBlock {
 public:
  /// Collective over all ranks. Allocates and commits the exchanges. `alone`: the instance of skew() and restore();
  /// `beside`: of the shifts.
  RingBlock(ChosenMethod& method, const std::string& label, const Panels& panels, const RingShape& shape,
            const Space& alone, const Space& beside)
      : panels_(panels), shape_(shape), grid_(method.grid()),
        own_(grid_.coordinates()[static_cast<std::size_t>(shape.axis)] * shape.panels) {
    const auto room = static_cast<std::size_t>(largest_block(panels, shape));
    buffers_[0] = miniapp::zeroed<T>("matmul/" + label, room);
    if (stays()) return;
    buffers_[1] = miniapp::zeroed<T>("matmul/" + label + " next", room);
    // Rings whose blocks are where they belong take part in the exchanges, with nothing to send.
    const BlockRoute route(panels, shape);
    start_ = route.skew > 0 ? 1 : 0;
    const auto moves = route.ranks - 1;
    for (int n = 0; n < std::min<std::int64_t>(moves, 2); ++n) {
      const int from = (start_ + n) % 2;
      auto& shift = shifts_[n].emplace(method.comm(), "shift of " + label, beside);
      shift.add(buffers_[from], rank(-1), buffers_[1 - from], rank(+1));
      method.commit(shift);
      shift.measure_times();
    }
    const int last = static_cast<int>((start_ + moves) % 2);
    rotation(skew_.emplace(method.comm(), "skew of " + label, alone), route.skew, false, 0);
    method.commit(*skew_);
    rotation(restore_.emplace(method.comm(), "restore of " + label, alone), route.restore, true, last);
    method.commit(*restore_);
    home_ = route.stays_in_first ? 0 : route.restore > 0 ? 1 - last : last;
  }

  /// Local. This rank's block as it is given. Valid before skew() and after restore().
  Matrix<T> natural() const { return block_in(current_, own_); }
  /// Local; before a repeat. Makes the next one begin with the buffers as the first did.
  void reset() {
    if (current_ != 0) Kokkos::deep_copy(buffers_[0], buffers_[1]);
    rewind();
  }
  /// Local; after reset(). What is to arrive becomes no number, so that a block of the last repeat cannot stand in for
  /// one that does not come.
  void invalidate() {
    if (!stays()) Kokkos::deep_copy(buffers_[1], std::numeric_limits<T>::quiet_NaN());
  }

  /// Collective over all ranks; ordered on its instance. Moves blocks to where they are multiplied first.
  void skew() {
    run(skew_);
    current_ = start_;
  }
  /// Local. Whether the block that is multiplied from that panel on, counted from the first, is followed by another.
  bool begins(std::int64_t panel) const { return panel % shape_.panels == 0 && panel + shape_.panels < panels_.count; }
  /// Local. Whether the next block is multiplied from that panel on.
  bool ends(std::int64_t panel) const { return panel % shape_.panels == 0 && panel < panels_.count; }
  /// Collective over all ranks. Begins to bring the next block; the current one may be read meanwhile.
  void start_shift(const miniapp::ExchangeSamples& samples) {
    under_way_.emplace(*shifts_[shifted_ % 2], samples);
    under_way_->start();
  }
  /// Collective over all ranks. The next block is current, for what the instance is given next.
  void finish_shift() {
    under_way_->finish();
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
  /// Collective over all ranks; after all shifts. Moves blocks back to where they were before skew().
  void restore() {
    run(restore_);
    current_ = home_;
    shifted_ = 0;
  }

  /// Local. Panels `first` to before `first + count`, counted from the first that this rank multiplies, of the current
  /// block.
  Matrix<T> panels(std::int64_t first, std::int64_t count) const {
    const auto origin = stays() ? 0 : shape_.offset + own_ + shifted_ * shape_.panels;
    auto panel = shape_.offset + own_ + first;
    if (stays()) panel %= panels_.count;
    const auto begin = panels_.size(origin, panel - origin);
    return along_k(block_in(current_, origin), shape_.k_is_rows, begin, begin + panels_.size(panel, count));
  }
  /// Whether the ranks are one: nothing moves.
  bool stays() const { return shape_.panels == panels_.count; }

  /// Elements that this rank sends: in skew(), in all shifts, in restore().
  std::array<std::int64_t, 3> sent() const {
    const auto elements = [&](const std::optional<Exchange>& exchange) {
      std::int64_t sum = 0;
      if (exchange)
        for (const auto& slot : exchange->slots())
          if (slot.destination != comm::no_rank && slot.destination != grid_.rank())
            sum += comm::element_count(slot.send.shape);
      return sum;
    };
    return {elements(skew_), (panels_.count / shape_.panels - 1) * elements(shifts_[0]), elements(restore_)};
  }
  /// Local. What the phases of shifts took since the last call becomes the regions pack, post, wait, unpack.
  void add_times(miniapp::Timers& timers) {
    for (auto& shift : shifts_) {
      if (!shift) continue;
      timers.add(shift->times());
      shift->reset_times();
    }
  }
  /// Of the shifts; null if there are none.
  const comm::Exchange<Buffer<T>>* shift() const { return shifts_[0] ? &*shifts_[0] : nullptr; }

 private:
  using Exchange = comm::Exchange<Buffer<T>>;

  static void run(std::optional<Exchange>& exchange) {
    if (!exchange) return;
    exchange->start();
    exchange->finish();
  }
  int rank(std::int64_t displacement) const { return grid_.neighbour(shape_.axis, static_cast<int>(displacement)); }
  /// The block that begins with that panel, in one of the buffers.
  Matrix<T> block_in(int buffer, std::int64_t first_panel) const {
    const auto size = panels_.size(first_panel, shape_.panels);
    return shape_.k_is_rows ? matrix_in(buffers_[buffer], size, shape_.across)
                            : matrix_in(buffers_[buffer], shape_.across, size);
  }
  /// Rank r gets the panels that follow number offset + r * panels, of which the first come from one rank and the
  /// others from the next; `back`: the reverse. Nothing moves if the offset is 0.
  void rotation(Exchange& exchange, std::int64_t offset, bool back, int from) const {
    const auto width = shape_.panels;
    const auto far = offset / width; // ranks
    const auto cut = offset % width; // panels of a block that come from the next rank
    const auto natural = block_in(back ? 1 - from : from, own_);
    const auto rotated = block_in(back ? from : 1 - from, offset + own_);
    const auto add = [&](std::int64_t panel, std::int64_t count, std::int64_t to, std::int64_t rotated_panel) {
      const auto part = [&](const Matrix<T>& block, std::int64_t begins, std::int64_t at) {
        const auto begin = panels_.size(begins, at);
        return along_k(block, shape_.k_is_rows, begin, begin + panels_.size(begins + at, count));
      };
      const auto of_natural = part(natural, own_, panel), of_rotated = part(rotated, offset + own_, rotated_panel);
      if (back)
        exchange.add(of_rotated, rank(to), of_natural, rank(-to));
      else
        exchange.add(of_natural, rank(-to), of_rotated, rank(to));
    };
    if (offset > 0) add(cut, width - cut, far, 0);
    if (cut > 0) add(0, cut, far + 1, width - cut);
  }

  Panels panels_;
  RingShape shape_;
  const comm::Communicator& grid_;
  std::int64_t own_; ///< the first panel of the natural block
  std::array<Buffer<T>, 2> buffers_;
  int start_ = 0;   ///< the buffer that the first block is multiplied in
  int current_ = 0; ///< the buffer of the current block
  int home_ = 0;    ///< the buffer that restore() leaves the natural block in
  std::int64_t shifted_ = 0;
  std::optional<Exchange> skew_;
  std::array<std::optional<Exchange>, 2> shifts_; ///< those of even and of odd number
  std::optional<Exchange> restore_;
  std::optional<miniapp::SampledExchange<Exchange>> under_way_; ///< of the shifts
};

} // namespace kontor::matmul
