// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "matmul/algorithm/process_grid.hpp"
#include "matmul/problem/matrix.hpp"

#include <kontor/comm/exchange.hpp>

#include <cstdint>
#include <optional>
#include <vector>

namespace kontor::matmul {

/// Local. Elements beside C that the sum of so many layers takes.
double layer_sum_elements(int layers, std::int64_t rows, std::int64_t columns);

/// The sum of the layers' parts of C, in the first layer. Each layer adds up some columns, always in the order of
/// layers, so that the bits do not depend on how they travel.
template <class T>
class LayerSum {
 public:
  /// Collective over all ranks, each with those at its place of all layers. Allocates layer_sum_elements().
  LayerSum(const RingRanks& layers, const Matrix<T>& c, const Space& instance);
  /// Collective; ordered on the instance. C of the first layer becomes the sum of all; those of the others mean nothing
  /// then.
  void run();
  /// Elements that this rank sends.
  std::int64_t sent() const { return sent_; }

 private:
  Space instance_;
  Matrix<T> own_;                    ///< the columns of C that this layer adds up
  std::vector<Matrix<T>> of_others_; ///< by layer; this one's is empty
  comm::Exchange<Buffer<T>> gather_;
  std::optional<comm::Exchange<Buffer<T>>> deliver_;
  std::int64_t sent_ = 0;
  int layer_;
};

} // namespace kontor::matmul
