// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "matmul/algorithm/cannon_steps.hpp"

#include <algorithm>

namespace kontor::matmul {

template <class T>
CannonSteps<T>::CannonSteps(const MultiplicationContext& context, const Panels& panels, RingBlock<T>& a,
                            RingBlock<T>& b, const Matrix<T>& c)
    : options_(context.options), overlap_(context.run.overlap), as_on_device_(context.as_on_device),
      beta_(context.grid.place.layer == 0 ? options_.beta : 0), streams_(context.streams), panels_(panels),
      a_(a), b_(b), c_(c), segments_(segments(panels_, context.grid.place, a_.stays() || b_.stays())),
      product_(options_),
      timeline_(context.grid.all.rank(), {{"gemm", segments_.size()},
                                          {"shift of A", static_cast<std::size_t>(panels_.shifts_of_a())},
                                          {"shift of B", static_cast<std::size_t>(panels_.shifts_of_b())}}),
      gemm_(context.run.timers["gemm"]) {}

template <class T>
void CannonSteps<T>::begin(Pass pass, std::int64_t first) {
  pass_ = pass;
  start_ = device::seconds();
  timeline_.start(streams_.compute());
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

/// On a device products are queued before the exchange, which may wait on the host; on a host messages are
/// posted before the product begins.
template <class T>
void CannonSteps<T>::next_segment(bool multiplied_before) {
  const auto segment = segments_[next_];
  const bool ahead = moves() && overlap_;
  streams_.mark_compute();
  if (ahead && !as_on_device_) start_shifts(segment.begin);
  if (computes() && multiplied_before) {
    const auto count = segment.end - segment.begin;
    product_.skip(a_.panels(segment.begin, count), b_.panels(segment.begin, count));
  } else if (computes()) {
    multiply(static_cast<std::int64_t>(next_), segment);
  }
  if (ahead && as_on_device_) start_shifts(segment.begin);
  if (moves())
    finish_shifts(segment.end);
  else
    skip_shifts(segment.end);
  ++next_;
}

template <class T>
void CannonSteps<T>::multiply(std::int64_t number, const Segment& segment) {
  const miniapp::ScopedTimer timed(gemm_);
  const auto count = segment.end - segment.begin;
  timeline_.begin(gemm, number, streams_.compute());
  product_.add(a_.panels(segment.begin, count), b_.panels(segment.begin, count), c_);
  timeline_.end(gemm, number, streams_.compute());
}

template <class T>
void CannonSteps<T>::start_shifts(std::int64_t panel) {
  const bool a = begins(panel, panels_.in_a), b = begins(panel, panels_.in_b);
  if (!a && !b) return;
  streams_.exchange_waits();
  if (a) start_shift(a_, shift_of_a, panel / panels_.in_a);
  if (b) start_shift(b_, shift_of_b, panel / panels_.in_b);
}

template <class T>
void CannonSteps<T>::finish_shifts(std::int64_t panel) {
  const bool a = ends(panel, panels_.in_a), b = ends(panel, panels_.in_b);
  if (!a && !b) return;
  const auto of_a = panel / panels_.in_a - 1, of_b = panel / panels_.in_b - 1;
  if (a && !overlap_) start_shift(a_, shift_of_a, of_a);
  if (b && !overlap_) start_shift(b_, shift_of_b, of_b);
  if (a) finish_shift(a_, shift_of_a, of_a);
  if (b) finish_shift(b_, shift_of_b, of_b);
  streams_.compute_waits();
}

template <class T>
void CannonSteps<T>::start_shift(RingBlock<T>& block, Activity activity, std::int64_t number) {
  timeline_.begin(activity, number, streams_.exchange());
  block.start_shift();
}

template <class T>
void CannonSteps<T>::finish_shift(RingBlock<T>& block, Activity activity, std::int64_t number) {
  block.finish_shift();
  timeline_.end(activity, number, streams_.exchange());
}

template <class T>
void CannonSteps<T>::skip_shifts(std::int64_t panel) {
  if (ends(panel, panels_.in_a)) a_.skip_shift();
  if (ends(panel, panels_.in_b)) b_.skip_shift();
}

template <class T>
typename Multiplication<T>::Operands CannonSteps<T>::largest_product() const {
  const auto largest = *std::max_element(segments_.begin(), segments_.end(),
                                         [](auto x, auto y) { return x.end - x.begin < y.end - y.begin; });
  const auto count = largest.end - largest.begin;
  return {a_.panels(0, count), b_.panels(0, count), c_};
}

template class CannonSteps<float>;
template class CannonSteps<double>;

} // namespace kontor::matmul
