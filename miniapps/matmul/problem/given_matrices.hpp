// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "matmul/algorithm/multiplication.hpp"
#include "matmul/problem/given_part.hpp"
#include "matmul/problem/redistribution.hpp"

namespace kontor::matmul {

/// A, B and C as they are given, in the first layer: those of the multiplication, or, where it wants them distributed
/// in another way, matrices beside them. Ranks of other layers have no elements of them.
template <class T>
class GivenMatrices {
 public:
  /// Collective. The multiplication outlives this.
  GivenMatrices(const MultiplicationContext& context, const Multiplication<T>& multiplication)
      : multiplication_(multiplication), streams_(context.streams), in_first_layer_(context.grid.place.layer == 0) {
    const auto& o = context.options;
    const auto elements = staging_elements(o, context.grid.shape, context.grid.place);
    staging_ = {Buffer<T>("matmul/staging out", elements), Buffer<T>("matmul/staging in", elements)};
    a_ = make(context, "A", stored_a(o), is_transposed(o.a), multiplication.a(), true, false);
    b_ = make(context, "B", stored_b(o), is_transposed(o.b), multiplication.b(), true, false);
    c_ = make(context, "C", stored_c(o), false, multiplication.c(), o.beta != 0, true);
  }

  /// Local.
  LocalMatrix<T> a() const { return given(a_, multiplication_.a()); }
  LocalMatrix<T> b() const { return given(b_, multiplication_.b()); }
  LocalMatrix<T> c() const { return given(c_, multiplication_.c()); }

  /// Collective; waits. Before the product: it gets A and B and, if asked for, C.
  void bring(bool with_c) {
    if (a_) a_->bring->run();
    if (b_) b_->bring->run();
    if (c_ && with_c) c_->bring->run();
    streams_.fence();
  }
  /// Collective; waits. After the product: C as it is to be given.
  void give_back() {
    if (c_) c_->give_back->run();
    streams_.fence();
  }
  /// Local, equal on all ranks. Whether bring() and give_back() have anything to do.
  bool redistributes() const { return a_ || b_ || c_; }

  /// Bytes that this rank sends in bring() and give_back().
  std::int64_t sent(bool with_c) const {
    std::int64_t elements = 0;
    if (a_) elements += a_->bring->sent();
    if (b_) elements += b_->bring->sent();
    if (c_ && with_c) elements += c_->bring->sent();
    if (c_) elements += c_->give_back->sent();
    return elements * static_cast<std::int64_t>(sizeof(T));
  }

 private:
  struct Matrix {
    LocalMatrix<T> matrix;
    std::optional<Redistribution<T>> bring, give_back;
  };
  std::optional<Matrix> make(const MultiplicationContext& context, const char* label, const StoredSize& size,
                             bool transposed, const LocalMatrix<T>& wanted, bool brought, bool given_back) {
    const auto& grid = context.grid;
    const auto& options = context.options;
    if (is_given_as_wanted(options, transposed, grid.shape)) return {};
    const auto given = given_parts(options, size, grid.shape);
    const auto of_product = wanted_parts(size, grid.shape, transposed);
    const auto mine = given(grid.all.rank());
    Matrix made{{matmul::Matrix<T>(std::string("matmul/given ") + label, mine.rows.size, mine.columns.size), mine.rows,
                 mine.columns},
                {},
                {}};
    const auto& instance = streams_.exchange();
    if (brought)
      made.bring.emplace(context.method, std::string("distribution of ") + label, given, of_product,
                         made.matrix.elements, wanted.elements, staging_, instance);
    if (given_back)
      made.give_back.emplace(context.method, std::string("distribution of the product ") + label, of_product, given,
                             wanted.elements, made.matrix.elements, staging_, instance);
    return made;
  }

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
