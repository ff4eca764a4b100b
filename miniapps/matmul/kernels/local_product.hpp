// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "machine/simulation.hpp"
#include "matmul/kernels/plain.hpp"
#include "matmul/matrix.hpp"
#include "matmul/product.hpp"

namespace kontor::matmul {

/// Local. What a product is to miniapp::gemm() and to plain_gemm().
inline miniapp::GemmForm gemm_form(const Product& p) {
  return {.transpose_a = p.transposed_a(), .transpose_b = p.transposed_b()};
}

/// C *= factor, by the number of an element.
template <class T>
struct Scale {
  Matrix<T> c;
  T factor;
  KOKKOS_FUNCTION void operator()(std::int64_t n) const {
    const auto rows = static_cast<std::int64_t>(c.extent(0));
    c(n % rows, n / rows) *= factor;
  }
};

/// C = alpha op(A) op(B) + beta C of one rank, part by part along k. Queued on the default instance.
template <class T>
class LocalProduct {
 public:
  explicit LocalProduct(const Product& p)
      : form_(gemm_form(p)), plain_(p.gemm == Gemm::plain), alpha_(static_cast<T>(p.alpha)) {}

  /// Local. The next part is the first: what C was before counts `beta` times.
  void begin(double beta) { beta_ = static_cast<T>(beta); }
  /// Local. Adds alpha op(a) op(b). Parts may be empty.
  void add(const Matrix<const T>& a, const Matrix<const T>& b, const Matrix<T>& c) {
    if (a.size() == 0 || b.size() == 0) return;
    const auto flops = 2.0 * static_cast<double>(a.size()) * static_cast<double>(c.extent(1));
    miniapp::compute("matmul/gemm", flops, flops, [&] {
      if (plain_)
        plain_gemm<T>(form_, alpha_, a, b, beta_, c);
      else
        miniapp::gemm<T>(form_, alpha_, a, b, beta_, c);
    });
    beta_ = 1;
  }
  /// Local. After the last part: C is right even if all were empty.
  void end(const Matrix<T>& c) const {
    if (beta_ == T(1)) return;
    if (beta_ == T(0)) // whatever C was, even if it is no number
      Kokkos::deep_copy(Space(), c, T(0));
    else
      Kokkos::parallel_for("matmul/scale", Range(Space(), 0, static_cast<std::int64_t>(c.size())), Scale<T>{c, beta_});
  }

 private:
  miniapp::GemmForm form_;
  bool plain_;
  T alpha_;
  T beta_ = 0;
};

} // namespace kontor::matmul
