// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "matmul/algorithm/process_grid.hpp"
#include "matmul/problem/matrix.hpp"

#include <kontor/comm/exchange.hpp>

namespace kontor::matmul {

/// Local. Elements beside C that the sum of so many layers takes.
inline double layer_sum_elements(int layers, std::int64_t rows, std::int64_t columns) {
  const auto part = (columns + layers - 1) / layers; // rounded up
  return static_cast<double>((layers - 1) * rows) * static_cast<double>(part);
}

template <class T>
struct AddLayer {
  Matrix<T> sum, part;
  bool first; ///< the part comes before what is there
  KOKKOS_FUNCTION void operator()(std::int64_t n) const {
    const auto rows = static_cast<std::int64_t>(sum.extent(0));
    auto& value = sum(n % rows, n / rows);
    const T other = part(n % rows, n / rows);
    value = first ? other + value : value + other;
  }
};

/// The sum of the layers' parts of C, in the first layer. Each layer adds up some columns, always in the order of
/// layers, so that the bits do not depend on how they travel.
template <class T>
class LayerSum {
 public:
  /// Collective over all ranks, each with those at its place of all layers. Allocates layer_sum_elements().
  LayerSum(const RingRanks& layers, const Matrix<T>& c, const Space& instance)
      : instance_(instance), own_(columns_of(c, layers.size(), layers.place)),
        gather_(layers.method.comm(), "parts of C", instance), layer_(layers.place) {
    for (int layer = 0; layer < layers.size(); ++layer) {
      of_others_.emplace_back();
      if (layer == layer_) continue;
      const auto theirs = columns_of(c, layers.size(), layer);
      const auto rank = layers.ranks[static_cast<std::size_t>(layer)];
      of_others_.back() = Matrix<T>("matmul/part of C", own_.extent(0), own_.extent(1));
      gather_.add_send(theirs, rank);
      gather_.add_receive(of_others_.back(), rank);
      sent_ += static_cast<std::int64_t>(theirs.size());
    }
    layers.method.commit<T>(gather_);
    auto& deliver = deliver_.emplace(layers.method.comm(), "sum of C", instance);
    for (int layer = 1; layer < layers.size() && layer_ == 0; ++layer)
      deliver.add_receive(columns_of(c, layers.size(), layer), layers.ranks[static_cast<std::size_t>(layer)]);
    if (layer_ > 0) {
      deliver.add_send(own_, layers.ranks[0]);
      sent_ += static_cast<std::int64_t>(own_.size());
    }
    layers.method.commit<T>(deliver);
  }

  /// Collective; ordered on the instance. C of the first layer becomes the sum of all; those of the others mean nothing
  /// then.
  void run() {
    matmul::run<T>(gather_);
    // ((0 + 1) + 2) + ...: what comes before this layer is added up in the first one's place.
    const auto add = [&](const Matrix<T>& sum, const Matrix<T>& part, bool first) {
      Kokkos::parallel_for("matmul/add layer", Range(instance_, 0, static_cast<std::int64_t>(sum.size())),
                           AddLayer<T>{sum, part, first});
    };
    const auto layers = static_cast<int>(of_others_.size());
    for (int r = 1; r < layer_; ++r) add(of_others_[0], of_others_[r], false);
    if (layer_ > 0) add(own_, of_others_[0], true);
    for (int r = layer_ + 1; r < layers; ++r) add(own_, of_others_[r], false);
    matmul::run<T>(*deliver_);
  }
  /// Elements that this rank sends.
  std::int64_t sent() const { return sent_; }

 private:
  /// The columns of C that a layer adds up.
  static Matrix<T> columns_of(const Matrix<T>& c, int layers, int layer) {
    const auto part = block_part(static_cast<std::int64_t>(c.extent(1)), layers, layer);
    return Kokkos::subview(c, Kokkos::ALL, std::pair(part.begin, part.begin + part.size));
  }

  Space instance_;
  Matrix<T> own_;                    ///< the columns of C that this layer adds up
  std::vector<Matrix<T>> of_others_; ///< by layer; this one's is empty
  comm::Exchange<Buffer<T>> gather_;
  std::optional<comm::Exchange<Buffer<T>>> deliver_;
  std::int64_t sent_ = 0;
  int layer_;
};

} // namespace kontor::matmul
