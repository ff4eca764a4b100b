// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "matmul/algorithm/chosen_method.hpp"
#include "matmul/problem/matrix.hpp"

#include <kontor/comm/exchange.hpp>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace kontor::matmul {

/// Which rows and columns of a matrix each rank has.
struct MatrixParts {
  AxisPart rows;
  AxisPart columns;
};
using PartsOfRank = std::function<MatrixParts(int rank)>;

/// The memory that elements are packed into and arrive in; several redistributions may share it.
template <class T>
struct Staging {
  Buffer<T> out;
  Buffer<T> in;
};

/// Moves a matrix from one distribution to another: what two ranks have in common is packed column by column, travels
/// in one message, and is unpacked.
template <class T>
class Redistribution {
 public:
  /// Collective. `from` and `to` are this rank's parts of `before` and `after`. The staging has room for this rank's
  /// elements of each.
  Redistribution(ChosenMethod&, const std::string& label, const PartsOfRank& before, const PartsOfRank& after,
                 const Matrix<T>& from, const Matrix<T>& to, const Staging<T>&, const Space& instance);

  /// Collective; ordered on the instance.
  void run();

  /// Elements that this rank sends to others.
  std::int64_t sent() const { return sent_; }

 private:
  /// What this rank and another one have in common: where it is in the matrix and in the staging.
  struct Piece {
    Kokkos::View<std::int32_t*> rows, columns;
    Buffer<T> elements;
  };
  Piece piece(const AxisPart& rows, const AxisPart& columns, const MatrixParts& theirs, const Buffer<T>&,
              std::int64_t& used) const;

  Space instance_;
  Matrix<T> from_;
  Matrix<T> to_;
  std::vector<Piece> packed_;
  std::vector<Piece> unpacked_;
  comm::Exchange<Buffer<T>> exchange_;
  std::int64_t sent_ = 0;
};

} // namespace kontor::matmul
