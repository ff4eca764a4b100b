// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "matmul/algorithm/multiplication.hpp"
#include "matmul/algorithm/panels.hpp"
#include "matmul/algorithm/ring_block.hpp"
#include "matmul/kernels/local_product.hpp"
#include "run/record/sampled_exchange.hpp"

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
  CannonSteps(const MultiplicationContext&, const Panels&, RingBlock<T>& a, RingBlock<T>& b, const Matrix<T>& c);

  /// Collective over all ranks. C = alpha op(A) op(B) of the layer's panels, and + beta C in the first layer, by
  /// begin(), advance() until all panels are made, and end(), which waits. Panels before `first` have been multiplied:
  /// their blocks move only.
  void begin(Pass, std::int64_t first);
  /// Returns how many panels it has multiplied: up to where a segment of all ranks begins.
  std::int64_t advance();
  void end();

  /// Local. From begin() to the return of end().
  double seconds() const { return seconds_; }
  /// Local. What is given to one local product.
  typename Multiplication<T>::Operands largest_product() const;

 private:
  bool moves() const { return pass_ != Pass::products; }
  bool computes() const { return pass_ != Pass::transfers; }
  void next_segment(bool multiplied_before);
  void multiply(const Segment&);
  /// Whether a segment of all ranks begins at that panel.
  bool is_common(std::int64_t panel) const { return panel % panels_.in_a == 0 || panel % panels_.in_b == 0; }
  /// A or B on its way.
  struct Moving {
    RingBlock<T>& block;
    std::int64_t panels; ///< of a block
    double before = 0;   ///< seconds of the block's shifts up to the one that is under way
  };
  /// Of blocks of which another one follows the one that is multiplied from that panel on.
  void start_shifts(std::int64_t panel);
  /// Of blocks that are multiplied up to that panel; in a pass that moves nothing they are skipped.
  void finish_shifts(std::int64_t panel);
  void start_shift(Moving&);

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

extern template class CannonSteps<float>;
extern template class CannonSteps<double>;

} // namespace kontor::matmul
