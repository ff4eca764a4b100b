// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "matmul/algorithm/multiplication.hpp"
#include "matmul/problem/given_part.hpp"
#include "matmul/problem/redistribution.hpp"

#include <cstdint>
#include <optional>

namespace kontor::matmul {

/// A, B and C as they are given, in the first layer: those of the multiplication, or, where it wants them distributed
/// in another way, matrices beside them. Ranks of other layers have no elements of them.
template <class T>
class GivenMatrices {
 public:
  /// Collective. The multiplication outlives this.
  GivenMatrices(const MultiplicationContext&, const Multiplication<T>&);

  /// Local.
  LocalMatrix<T> a() const { return given(a_, multiplication_.a()); }
  LocalMatrix<T> b() const { return given(b_, multiplication_.b()); }
  LocalMatrix<T> c() const { return given(c_, multiplication_.c()); }

  /// Collective; waits. Before the product: it gets A and B and, if asked for, C.
  void bring(bool with_c);
  /// Collective; waits. After the product: C as it is to be given.
  void give_back();
  /// Local, equal on all ranks. Whether bring() and give_back() have anything to do.
  bool redistributes() const { return a_ || b_ || c_; }

  /// Bytes that this rank sends in bring() and give_back().
  std::int64_t sent(bool with_c) const;

 private:
  struct Matrix {
    LocalMatrix<T> matrix;
    std::optional<Redistribution<T>> bring, give_back;
  };
  std::optional<Matrix> make(const MultiplicationContext&, const char* label, const StoredSize&, bool transposed,
                             const LocalMatrix<T>& wanted, bool brought, bool given_back);

  LocalMatrix<T> given(const std::optional<Matrix>& beside, LocalMatrix<T> of_product) const {
    if (!in_first_layer_) return {};
    return beside ? beside->matrix : of_product;
  }

  const Multiplication<T>& multiplication_;
  const stepping::Streams<Space>& streams_;
  Staging<T> staging_;
  bool in_first_layer_;
  std::optional<Matrix> a_, b_, c_;
};

} // namespace kontor::matmul
