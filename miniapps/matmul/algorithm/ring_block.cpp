// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "matmul/algorithm/ring_block.hpp"

#include "machine/first_touch.hpp"

#include <algorithm>
#include <limits>

namespace kontor::matmul {
namespace {

/// How far the blocks of a ring have to go, in panels.
struct BlockRoute {
  std::int64_t skew = 0, restore = 0;
  bool stays_in_first = false; ///< nothing has come into the first of the two buffers

  BlockRoute(const Panels& panels, const RingShape& shape)
      : skew(shape.offset % panels.count), stays_in_first((skew > 0 ? 1 : 0) + shape.shifts <= 1) {
    if (shape.restores && !stays_in_first) restore = (shape.offset + shape.shifts * shape.panels) % panels.count;
  }
};

} // namespace

std::int64_t largest_block(const Panels& panels, const RingShape& shape) {
  const auto all = panels.k * shape.panels;
  return shape.across * ((all + panels.count - 1) / panels.count);
}

std::int64_t packed_elements(const Panels& panels, const RingShape& shape, int ranks, int place) {
  if (ranks == 1 || !shape.k_is_rows) return 0;
  const BlockRoute way(panels, shape);
  const auto own = place * shape.panels;
  std::int64_t rows = 0;
  for (const auto offset : {way.skew, way.restore})
    if (offset % shape.panels > 0) rows += panels.size(own, shape.panels) + panels.size(offset + own, shape.panels);
  return rows * shape.across;
}

template <class T>
RingBlock<T>::RingBlock(const RingRanks& ring, const std::string& label, const Panels& panels, const RingShape& shape,
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

/// The block that begins with that panel, in one of the buffers.
template <class T>
Matrix<T> RingBlock<T>::block_in(int buffer, std::int64_t first_panel) const {
  const auto size = panels_.size(first_panel, shape_.panels);
  return shape_.k_is_rows ? matrix_in(buffers_[buffer], size, shape_.across)
                          : matrix_in(buffers_[buffer], shape_.across, size);
}

/// The exchange by which rank r gets the panels that follow number offset + r * panels, of which the first come from
/// one rank and the others from the next; or the reverse. It moves nothing if the offset is 0.
template <class T>
typename RingBlock<T>::Exchange RingBlock<T>::rotation(const RingRanks& ring, const std::string& label,
                                                       std::int64_t offset, Direction direction, int from,
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

template <class T>
Matrix<T> RingBlock<T>::natural() const {
  return block_in(current_, first_natural());
}

template <class T>
void RingBlock<T>::reset() {
  if (current_ != 0 && shape_.restores) Kokkos::deep_copy(buffers_[0], buffers_[1]);
  rewind();
}

template <class T>
void RingBlock<T>::invalidate() {
  const auto none = std::numeric_limits<T>::quiet_NaN();
  if (!shape_.restores) Kokkos::deep_copy(buffers_[0], none);
  if (!stays()) Kokkos::deep_copy(buffers_[1], none);
}

template <class T>
void RingBlock<T>::rewind() {
  current_ = 0;
  shifted_ = 0;
}

template <class T>
void RingBlock<T>::skew() {
  if (skew_) run<T>(*skew_);
  current_ = start_;
}

template <class T>
void RingBlock<T>::start_shift() {
  shifts_[shifted_ % 2]->start();
}

template <class T>
void RingBlock<T>::finish_shift() {
  shifts_[shifted_ % 2]->finish();
  skip_shift();
}

template <class T>
void RingBlock<T>::skip_shift() {
  current_ = 1 - current_;
  ++shifted_;
}

template <class T>
void RingBlock<T>::restore() {
  if (restore_) run<T>(*restore_);
  current_ = home_;
  shifted_ = 0;
}

template <class T>
Matrix<T> RingBlock<T>::panels(std::int64_t first, std::int64_t count) const {
  const auto origin = stays() ? 0 : shape_.offset + first_natural() + shifted_ * shape_.panels;
  auto panel = shape_.offset + first_natural() + first;
  if (stays()) panel %= panels_.count;
  const auto begin = panels_.begin(panel) - panels_.begin(origin);
  return along_k(block_in(current_, origin), shape_.k_is_rows, begin, begin + panels_.size(panel, count));
}

template <class T>
typename RingBlock<T>::Sent RingBlock<T>::sent() const {
  const auto elements = [&](const std::optional<Exchange>& exchange) {
    std::int64_t sum = 0;
    if (exchange)
      for (const auto& slot : exchange->slots())
        if (slot.destination != comm::no_rank && slot.destination != self_) sum += comm::element_count(slot.send.shape);
    return sum;
  };
  return {elements(skew_), shape_.shifts * elements(shifts_[0]), elements(restore_)};
}

template <class T>
double RingBlock<T>::seconds_of_shifts() const {
  double sum = 0;
  for (const auto& shift : shifts_)
    if (shift) sum += shift->times().total();
  return sum;
}

template <class T>
void RingBlock<T>::add_times(miniapp::Timers& timers) {
  for (auto& shift : shifts_) {
    if (!shift) continue;
    timers.add(shift->times());
    shift->reset_times();
  }
}

template class RingBlock<float>;
template class RingBlock<double>;

} // namespace kontor::matmul
