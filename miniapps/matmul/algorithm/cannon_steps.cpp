// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "matmul/algorithm/cannon_steps.hpp"

#include <algorithm>

namespace kontor::matmul {

template <class T>
CannonSteps<T>::CannonSteps(const MultiplicationContext& context, const Panels& panels, RingBlock<T>& a,
                            RingBlock<T>& b, const Matrix<T>& c)
    : options_(context.options), overlap_(context.run.overlap), as_on_device_(context.as_on_device),
      beta_(context.grid.place.layer == 0 ? options_.beta : 0), streams_(context.streams),
      panels_(panels), a_{a, panels_.in_a}, b_{b, panels_.in_b}, c_(c),
      segments_(segments(panels_, context.grid.place, a.stays() || b.stays())), product_(options_),
      gemm_(context.run.timers["gemm"]) {
  if (a.shift() || b.shift()) samples_.emplace(context.run.timers);
}

template <class T>
void CannonSteps<T>::begin(Pass pass, std::int64_t first) {
  pass_ = pass;
  start_ = device::seconds();
  product_.begin(beta_);
  for (next_ = 0; next_ < segments_.size() && segments_[next_].begin < first;) next_segment(true);
}

template <class T>
std::int64_t CannonSteps<T>::advance() {
  const auto first = segments_[next_].begin;
  do next_segment(false);
  while (next_ < segments_.size() && !is_common(segments_[next_].begin));
  return segments_[next_ - 1].end - first;
}

template <class T>
void CannonSteps<T>::end() {
  if (computes()) product_.end(c_);
  streams_.fence();
  seconds_ = device::seconds() - start_;
}

/// On a device products are queued before the exchange, which may wait on the host; on a host messages are posted
/// before the product begins.
template <class T>
void CannonSteps<T>::next_segment(bool multiplied_before) {
  const auto segment = segments_[next_];
  const bool ahead = moves() && overlap_;
  streams_.mark_compute();
  if (ahead && !as_on_device_) start_shifts(segment.begin);
  if (computes() && multiplied_before) {
    const auto count = segment.end - segment.begin;
    product_.skip(a_.block.panels(segment.begin, count), b_.block.panels(segment.begin, count));
  } else if (computes()) {
    multiply(segment);
  }
  if (ahead && as_on_device_) start_shifts(segment.begin);
  finish_shifts(segment.end);
  ++next_;
}

template <class T>
void CannonSteps<T>::multiply(const Segment& segment) {
  const miniapp::ScopedTimer timed(gemm_);
  const auto count = segment.end - segment.begin;
  product_.add(a_.block.panels(segment.begin, count), b_.block.panels(segment.begin, count), c_);
}

template <class T>
void CannonSteps<T>::start_shifts(std::int64_t panel) {
  const auto begins = [&](const Moving& m) { return panel % m.panels == 0 && panel + m.panels < panels_.steps; };
  if (begins(a_) || begins(b_)) streams_.exchange_waits();
  for (auto* moving : {&a_, &b_})
    if (begins(*moving)) start_shift(*moving);
}

template <class T>
void CannonSteps<T>::finish_shifts(std::int64_t panel) {
  const auto ends = [&](const Moving& m) { return panel % m.panels == 0 && panel < panels_.steps; };
  for (auto* moving : {&a_, &b_})
    if (ends(*moving) && moves() && !overlap_) start_shift(*moving);
  for (const auto* moving : {&a_, &b_}) {
    if (!ends(*moving)) continue;
    if (!moves()) {
      moving->block.skip_shift();
      continue;
    }
    miniapp::traced(samples_->wait, [&] { moving->block.finish_shift(); });
    samples_->durations.add(moving->block.seconds_of_shifts() - moving->before);
  }
  if (moves() && (ends(a_) || ends(b_))) streams_.compute_waits();
}

template <class T>
void CannonSteps<T>::start_shift(Moving& moving) {
  moving.before = moving.block.seconds_of_shifts();
  miniapp::traced(samples_->post, [&] { moving.block.start_shift(); });
}

template <class T>
typename Multiplication<T>::Operands CannonSteps<T>::largest_product() const {
  const auto largest = *std::max_element(segments_.begin(), segments_.end(),
                                         [](auto x, auto y) { return x.end - x.begin < y.end - y.begin; });
  const auto count = largest.end - largest.begin;
  return {a_.block.panels(0, count), b_.block.panels(0, count), c_};
}

template class CannonSteps<float>;
template class CannonSteps<double>;

} // namespace kontor::matmul
