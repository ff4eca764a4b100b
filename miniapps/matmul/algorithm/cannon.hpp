// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "matmul/algorithm/ring_block.hpp"
#include "matmul/kernels/local_product.hpp"
#include "stepping/streams.hpp"

#include <vector>

namespace kontor::matmul {

/// Bytes that a rank sends, by what for.
struct SentBytes {
  std::int64_t skew = 0;
  std::int64_t shifts = 0;
  std::int64_t restore = 0;
};

/// What of a multiplication is done: all of it, or its steps without transfers or without products, to know how long
/// these take alone; C means nothing then.
enum class Pass { whole, products, transfers };

/// Cannon's algorithm (panels.hpp), with a rank's blocks of A, B and C. Block (i, j) of the process grid has rows of
/// op(A) and of C of part i, columns of op(B) and of C of part j; k is cut along the ranks of a row for A, of a column
/// for B. A and B are as they are stored.
template <class T>
class Cannon {
 public:
  /// Collective. All arguments must outlive this. The method's process grid has two axes: rows, columns.
  /// `as_on_device`: products are queued before an exchange, which may wait on the host.
  Cannon(const Product&, ChosenMethod&, stepping::Streams<Space>&, miniapp::Timers&, bool overlap, bool as_on_device);

  /// Local. Valid before begin() and after end().
  LocalMatrix<T> a() const;
  LocalMatrix<T> b() const;
  LocalMatrix<T> c() const { return {c_, rows_, columns_}; }

  /// Collective. C = alpha op(A) op(B) + beta C, by begin(), step() for each step, and end(), after which A and B are
  /// what they were. C after so many steps is what a checkpoint has. Products are queued on streams.compute(). Steps
  /// before `first` have been made, and C is what they left.
  void begin(Pass, std::int64_t first);
  void step(std::int64_t n) { move_on(n, computes()); }
  void end();

  /// Local. The number of steps, equal on all ranks, and the part of the products that is in steps from one on.
  std::int64_t steps() const { return static_cast<std::int64_t>(begins_.size()) - 1; }
  double share_from(std::int64_t step) const;
  /// Local. Of the last multiplication: from the first step's begin to the last one's end, without skew and restore.
  double seconds_of_steps() const { return seconds_; }
  /// Local; not timed. What the next multiplication needs done.
  void reset();
  /// Local; not timed, after reset(). Blocks that are to arrive become no numbers.
  void invalidate();

  /// Local. What is given to one local product: parts of A and B, and C.
  struct Operands {
    Matrix<const T> a, b;
    Matrix<T> c;
  };
  Operands largest_product() const;
  SentBytes sent() const;
  nlohmann::ordered_json traffic() const;

 private:
  template <class Work>
  void phase(miniapp::Timer&, const Work&);
  bool moves() const { return pass_ != Pass::products; }
  bool computes() const { return pass_ != Pass::transfers; }
  void move_on(std::int64_t step, bool multiplies);
  void start_shifts(std::int64_t panel);
  void finish_shifts(std::int64_t panel);

  Product problem_;
  const comm::Communicator& grid_;
  GridPlace place_;
  bool overlap_;
  bool as_on_device_;
  stepping::Streams<Space>& streams_;
  Panels panels_;
  RingBlock<T> a_;
  RingBlock<T> b_;
  AxisRange rows_;
  AxisRange columns_;
  Matrix<T> c_;
  std::vector<std::int64_t> begins_; ///< Panels::steps()
  LocalProduct<T> product_;
  Pass pass_ = Pass::whole;
  double start_ = 0; ///< of device::seconds()
  double seconds_ = 0;
  miniapp::Timers& timers_;
  miniapp::Timer &gemm_, &skew_, &restore_;
  std::optional<miniapp::ExchangeSamples> samples_; ///< of shifts of A and of B; none: there are none
};

/// Local. The elements of the Views that it allocates on a rank.
double elements_of_rank(const Product&, const GridShape&, const GridPlace&);

extern template class Cannon<float>;
extern template class Cannon<double>;

} // namespace kontor::matmul
