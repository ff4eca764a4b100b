// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "machine/memory.hpp"
#include "matmul/algorithm/process_grid.hpp"
#include "matmul/options.hpp"
#include "matmul/problem/matrix.hpp"
#include "run/mini_app.hpp"
#include "stepping/streams.hpp"

#include <memory>

namespace kontor::matmul {

/// Bytes that a rank sends, by what for.
struct SentBytes {
  std::int64_t replicate = 0;
  std::int64_t skew = 0;
  std::int64_t shifts = 0;
  std::int64_t restore = 0;
  std::int64_t sum = 0; ///< of the layers
};

/// What of a multiplication is done: all of it, or its steps without transfers or without products, to know how long
/// these take alone; C means nothing then.
enum class Pass { whole, products, transfers };

/// What a multiplication is made from; all of it outlives the multiplication.
struct MultiplicationContext {
  const Options& options;
  const ProcessGrid& grid;
  ChosenMethod& method;
  const miniapp::RunContext& run;
  stepping::Streams<Space>& streams;
  bool keeps_a = true; ///< A must be in place again after the product
  bool keeps_b = true;
  bool as_on_device = stepping::on_device; ///< tests go the device's way on a host too
};

/// An algorithm with its blocks of A, B and C, one of each a rank: block (i, j) of the process grid, cut as
/// block_part() says. A and B are as they are stored, so of k x m and n x k elements where they are transposed. In
/// ranks of layers other than the first, their contents mean nothing.
template <class T>
class Multiplication {
 public:
  virtual ~Multiplication() = default;

  /// Local. Valid before begin() and after end().
  virtual LocalMatrix<T> a() const = 0;
  virtual LocalMatrix<T> b() const = 0;
  virtual LocalMatrix<T> c() const = 0;

  /// Collective. C = alpha op(A) op(B) + beta C, by begin(), advance() until all steps are made, and end(). A step is a
  /// panel of k; C after so many steps is what a checkpoint has. A and B are what they were before, if the context
  /// keeps them. Products are queued on streams.compute(). Steps before `first` have been made, and C is what they
  /// left.
  virtual void begin(Pass, std::int64_t first) = 0;
  /// Makes the steps after `made`, one or some more. Returns their number, equal on all ranks.
  virtual std::int64_t advance(std::int64_t made) = 0;
  virtual void end() = 0;

  /// Local. The number of the last step, equal on all ranks.
  virtual std::int64_t steps() const = 0;
  /// Local. Of the last multiplication: from the first step's begin to the last one's end, without what comes before
  /// and after them.
  virtual double seconds_of_steps() const = 0;
  /// Local; not timed. What the next multiplication needs done.
  virtual void reset() = 0;
  /// Local; not timed, after reset(). Blocks that are to arrive become no numbers.
  virtual void invalidate() {}

  /// Local. What is given to one local product: parts of A and B, and C.
  struct Operands {
    Matrix<const T> a, b;
    Matrix<T> c;
  };
  virtual Operands largest_product() const = 0;
  virtual SentBytes sent() const = 0;
  virtual std::vector<miniapp::Traffic> traffic() const = 0;
};

// The multiplications that there are, and the Views of A and B that each allocates on a rank, in elements instead of
// bytes.

/// Collective. Cannon's algorithm, in one layer or several (panels.hpp).
template <class T>
std::unique_ptr<Multiplication<T>> make_cannon(const MultiplicationContext&);

/// Local.
std::vector<miniapp::Allocation> cannon_views(const Options&, const GridShape&, const GridPlace&);

/// Collective. SUMMA (R. A. van de Geijn, J. Watts, SUMMA: Scalable Universal Matrix Multiplication Algorithm,
/// Concurrency: Practice and Experience 9, 1997): for each panel of k, the ranks that have its columns of A broadcast
/// them along their rows, those that have its rows of B along their columns. While one panel is multiplied the next one
/// travels.
template <class T>
std::unique_ptr<Multiplication<T>> make_summa(const MultiplicationContext&);

/// Local.
std::vector<miniapp::Allocation> summa_views(const Options&, const GridShape&, const GridPlace&);

} // namespace kontor::matmul
