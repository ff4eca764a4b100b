// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "matmul/matrix.hpp"
#include "matmul/options.hpp"

#include <kontor/comm/kokkos/compat.hpp>

#include <algorithm>
#include <cstdint>

namespace kontor::matmul {

/// Local. What a deck's product is to miniapp::gemm().
inline miniapp::GemmForm gemm_form(const Options& o) {
  return {.transpose_a = o.a.operation == Operation::transpose,
          .transpose_b = o.b.operation == Operation::transpose,
          .own_loops = o.gemm == Gemm::kokkos_kernels};
}

/// Local. How many slabs of columns a local product is made in, beside blocks that travel or not: few enough
/// that a BLAS keeps its rate. That does not depend on how they travel, and so bits do not either.
inline std::int64_t slabs_of(const Options& o, std::int64_t columns, bool blocks_travel) {
  constexpr std::int64_t least = 512; // columns of a slab, where the deck says nothing
  if (o.slabs) return *o.slabs;
  return comm::on_host<Space> && blocks_travel ? std::max<std::int64_t>(1, columns / least) : 1;
}

/// C = alpha op(A) op(B) + beta C of one rank, part by part along k. Queued on the default instance.
template <class T>
class LocalProduct {
 public:
  LocalProduct(const Options& o, std::int64_t slabs)
      : form_(gemm_form(o)), slabs_(slabs), alpha_(static_cast<T>(o.alpha)) {}

  /// Local. The next part is the first: what C was before counts `beta` times.
  void begin(double beta) { beta_ = static_cast<T>(beta); }
  /// Local. Adds alpha op(a) op(b), slab after slab, with a call of between() after each. Parts may be empty.
  template <class Between>
  void add(const Matrix<const T>& a, const Matrix<const T>& b, const Matrix<T>& c, const Between& between) {
    const bool empty = a.size() == 0 || b.size() == 0;
    for (std::int64_t slab = 0; slab < slabs_; ++slab) {
      if (!empty) add_slab(a, b, c, block_part(static_cast<std::int64_t>(c.extent(1)), slabs_, slab));
      between();
    }
    if (!empty) beta_ = 1;
  }
  /// Local. After the last part: C is right even if all were empty.
  void end(const Matrix<T>& c) const;

 private:
  void add_slab(const Matrix<const T>& a, const Matrix<const T>& b, const Matrix<T>& c,
                const AxisPart& columns) const {
    if (columns.size == 0) return;
    const auto end = columns.begin + columns.size;
    miniapp::gemm<T>(form_, alpha_, a, part_of(b, form_.transpose_b, columns.begin, end), beta_,
                     part_of(c, false, columns.begin, end));
  }

  miniapp::GemmForm form_;
  std::int64_t slabs_;
  T alpha_;
  T beta_ = 0;
};

extern template class LocalProduct<float>;
extern template class LocalProduct<double>;

} // namespace kontor::matmul
