// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "matmul/ring_block.hpp"

#include <algorithm>
#include <utility>

namespace kontor::matmul {
namespace {

/// Elements of the largest block of a ring.
std::int64_t capacity(const Panels& panels, const RingShape& shape) {
  const auto all = panels.k * shape.panels;
  return shape.across * ((all + panels.count - 1) / panels.count);
}

template <class T>
void run(comm::Exchange<Buffer<T>>& exchange) {
  exchange.start();
  exchange.finish();
}

} // namespace

template <class T>
RingBlock<T>::RingBlock(const comm::Communicator& ring, const std::string& label, const Panels& panels,
                        const RingShape& shape, const Space& instance)
    : panels_(panels), shape_(shape), ranks_(ring.size()), rank_(ring.rank()) {
  const auto room = capacity(panels, shape);
  buffers_[0] = Buffer<T>("matmul/" + label, room);
  if (stays()) return;
  buffers_[1] = Buffer<T>("matmul/" + label + " next", room);
  const auto around = panels.count;
  skew_ = rotation(ring, "skew of " + label, shape.offset % around, Direction::skew, 0, instance);
  start_ = skew_ ? 1 : 0;
  const auto left = (rank_ + ranks_ - 1) % ranks_;
  const auto right = (rank_ + 1) % ranks_;
  for (int n = 0; n < std::min<std::int64_t>(shape.shifts, 2); ++n) {
    const int from = (start_ + n) % 2;
    auto& shift = shifts_[from].emplace(ring, "shift of " + label, instance);
    shift.add(buffers_[from], left, buffers_[1 - from], right);
    shift.commit();
    shift.measure_times();
  }
  const int last = static_cast<int>((start_ + shape.shifts) % 2);
  restore_ = rotation(ring, "restore of " + label, (shape.offset + shape.shifts * shape.panels) % around,
                      Direction::restore, last, instance);
  home_ = restore_ ? 1 - last : last;
  current_ = 0;
}

template <class T>
double RingBlock<T>::bytes(int ring, const Panels& panels, const RingShape& shape) {
  return (ring == 1 ? 1.0 : 2.0) * sizeof(T) * static_cast<double>(capacity(panels, shape));
}

/// The block that begins with that panel, in one of the buffers.
template <class T>
Matrix<T> RingBlock<T>::block_in(int buffer, std::int64_t first_panel) const {
  const auto size = panels_.size(first_panel, shape_.panels);
  return shape_.k_is_rows ? matrix_in(buffers_[buffer], size, shape_.across)
                          : matrix_in(buffers_[buffer], shape_.across, size);
}

/// Indices of k from `begin` to before `end`, both counted from the block's first.
template <class T>
Matrix<T> RingBlock<T>::along_k(const Matrix<T>& block, std::int64_t begin, std::int64_t end) const {
  const std::pair range(begin, end);
  if (shape_.k_is_rows) return Kokkos::subview(block, range, Kokkos::ALL);
  return Kokkos::subview(block, Kokkos::ALL, range);
}

/// The exchange by which rank r gets the panels that follow number offset + r * panels, of which the first
/// come from one rank and the others from the next; or the reverse. None if they are where they belong.
template <class T>
std::optional<typename RingBlock<T>::Exchange>
RingBlock<T>::rotation(const comm::Communicator& ring, const std::string& label, std::int64_t offset,
                       Direction direction, int from, const Space& instance) {
  if (offset == 0) return {};
  const auto width = shape_.panels;
  const auto far = static_cast<int>(offset / width); // ranks
  const auto cut = offset % width;                   // panels of a block that come from the next rank
  const bool back = direction == Direction::restore;
  const auto first = offset + first_natural(); // of the rotated block
  const auto natural = block_in(back ? 1 - from : from, first_natural());
  const auto rotated = block_in(back ? from : 1 - from, first);
  const auto at = panels_.size(first_natural(), cut);
  const auto rotated_at = panels_.size(first, width - cut);
  const auto rank = [&](int displacement) { return ((rank_ + displacement) % ranks_ + ranks_) % ranks_; };

  Exchange exchange(ring, label, instance);
  const auto add = [&](const Matrix<T>& of_natural, int to, const Matrix<T>& of_rotated, int source) {
    if (back)
      exchange.add(of_rotated, rank(source), of_natural, rank(to));
    else
      exchange.add(of_natural, rank(to), of_rotated, rank(source));
  };
  add(along_k(natural, at, panels_.size(first_natural(), width)), -far, along_k(rotated, 0, rotated_at), far);
  if (cut > 0)
    add(along_k(natural, 0, at), -far - 1, along_k(rotated, rotated_at, panels_.size(first, width)), far + 1);
  exchange.commit();
  return exchange;
}

template <class T>
Matrix<T> RingBlock<T>::natural() const {
  return block_in(current_, first_natural());
}

template <class T>
void RingBlock<T>::reset() {
  if (current_ != 0) Kokkos::deep_copy(buffers_[0], buffers_[1]);
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
  shifts_[current_]->start();
}

template <class T>
void RingBlock<T>::finish_shift() {
  shifts_[current_]->finish();
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
  return along_k(block_in(current_, origin), begin, begin + panels_.size(panel, count));
}

template <class T>
typename RingBlock<T>::Sent RingBlock<T>::sent() const {
  const auto elements = [&](const std::optional<Exchange>& exchange) {
    std::int64_t sum = 0;
    if (exchange)
      for (const auto& slot : exchange->slots())
        if (slot.destination != rank_) sum += comm::element_count(slot.send.shape);
    return sum;
  };
  return {elements(skew_), shape_.shifts * elements(shifts_[start_]), elements(restore_)};
}

template <class T>
comm::PhaseTimes RingBlock<T>::times() const {
  comm::PhaseTimes sum;
  for (const auto& shift : shifts_) {
    if (!shift) continue;
    sum.pack += shift->times().pack;
    sum.post += shift->times().post;
    sum.wait += shift->times().wait;
    sum.unpack += shift->times().unpack;
    sum.exchanges += shift->times().exchanges;
  }
  return sum;
}

template <class T>
void RingBlock<T>::reset_times() {
  for (auto& shift : shifts_)
    if (shift) shift->reset_times();
}

template class RingBlock<float>;
template class RingBlock<double>;

} // namespace kontor::matmul
