// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "matmul/algorithm/multiplication.hpp"
#include "matmul/algorithm/panels.hpp"
#include "matmul/algorithm/ring_block.hpp"
#include "matmul/kernels/local_product.hpp"
#include "run/record/sampled_exchange.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

namespace kontor::matmul {

/// The steps of Cannon's algorithm on a rank: its panels multiplied segment by segment, and while a block is multiplied
/// the next one on its way.
template <class T>
class CannonSteps {
 public:
  /// Local. The blocks outlive the steps.
  CannonSteps(const MultiplicationContext& context, const Panels& panels, RingBlock<T>& a, RingBlock<T>& b,
              const Matrix<T>& c)
      : options_(context.options), overlap_(context.run.overlap), as_on_device_(context.as_on_device),
        beta_(context.grid.place.layer == 0 ? options_.beta : 0), streams_(context.streams),
        panels_(panels), a_{a, panels_.in_a}, b_{b, panels_.in_b}, c_(c),
        segments_(segments(panels_, context.grid.place, a.stays() || b.stays())), product_(options_),
        gemm_(context.run.timers["gemm"]) {
    if (a.shift() || b.shift()) samples_.emplace(context.run.timers);
  }

  /// Collective over all ranks. C = alpha op(A) op(B) of the layer's panels, and + beta C in the first layer, by
  /// begin(), advance() until all panels are made, and end(), which waits. Panels before `first` have been multiplied:
  /// their blocks move only.
  void begin(Pass pass, std::int64_t first) {
    pass_ = pass;
    start_ = device::seconds();
    product_.begin(beta_);
    for (next_ = 0; next_ < segments_.size() && segments_[next_].begin < first;) next_segment(true);
  }
  /// Returns how many panels it has multiplied: up to where a segment of all ranks begins.
  std::int64_t advance() {
    const auto first = segments_[next_].begin;
    do next_segment(false);
    while (next_ < segments_.size() && !is_common(segments_[next_].begin));
    return segments_[next_ - 1].end - first;
  }
  void end() {
    if (computes()) product_.end(c_);
    streams_.fence();
    seconds_ = device::seconds() - start_;
  }

  /// Local. From begin() to the return of end().
  double seconds() const { return seconds_; }
  /// Local. What is given to one local product.
  typename Multiplication<T>::Operands largest_product() const {
    const auto largest = *std::max_element(segments_.begin(), segments_.end(),
                                           [](auto x, auto y) { return x.end - x.begin < y.end - y.begin; });
    const auto count = largest.end - largest.begin;
    return {a_.block.panels(0, count), b_.block.panels(0, count), c_};
  }

 private:
  bool moves() const { return pass_ != Pass::products; }
  bool computes() const { return pass_ != Pass::transfers; }
  /// On a device products are queued before the exchange, which may wait on the host; on a host messages are posted
  /// before the product begins.
  void next_segment(bool multiplied_before) {
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
  void multiply(const Segment& segment) {
    const miniapp::ScopedTimer timed(gemm_);
    const auto count = segment.end - segment.begin;
    product_.add(a_.block.panels(segment.begin, count), b_.block.panels(segment.begin, count), c_);
  }
  /// Whether a segment of all ranks begins at that panel.
  bool is_common(std::int64_t panel) const { return panel % panels_.in_a == 0 || panel % panels_.in_b == 0; }
  /// A or B on its way.
  struct Moving {
    RingBlock<T>& block;
    std::int64_t panels; ///< of a block
    double before = 0;   ///< seconds of the block's shifts up to the one that is under way
  };
  /// Of blocks of which another one follows the one that is multiplied from that panel on.
  void start_shifts(std::int64_t panel) {
    const auto begins = [&](const Moving& m) { return panel % m.panels == 0 && panel + m.panels < panels_.steps; };
    if (begins(a_) || begins(b_)) streams_.exchange_waits();
    for (auto* moving : {&a_, &b_})
      if (begins(*moving)) start_shift(*moving);
  }
  /// Of blocks that are multiplied up to that panel; in a pass that moves nothing they are skipped.
  void finish_shifts(std::int64_t panel) {
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
  void start_shift(Moving& moving) {
    moving.before = moving.block.seconds_of_shifts();
    miniapp::traced(samples_->post, [&] { moving.block.start_shift(); });
  }

  const Options& options_;
  bool overlap_;
  bool as_on_device_;
  double beta_; ///< 0 in layers other than the first
  stepping::Streams<Space>& streams_;
  Panels panels_;
  Moving a_, b_;
  Matrix<T> c_;
  std::vector<Segment> segments_;
  LocalProduct<T> product_;
  Pass pass_ = Pass::whole;
  std::size_t next_ = 0; ///< segment
  double start_ = 0;     ///< of device::seconds()
  double seconds_ = 0;
  miniapp::Timer& gemm_;
  std::optional<miniapp::ExchangeSamples> samples_; ///< of shifts of A and of B; none: there are none
};

} // namespace kontor::matmul
