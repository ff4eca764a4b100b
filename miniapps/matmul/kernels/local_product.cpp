// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "matmul/kernels/local_product.hpp"

namespace kontor::matmul {

template <class T>
struct Scale {
  Matrix<T> c;
  T factor;
  KOKKOS_FUNCTION void operator()(std::int64_t n) const {
    const auto rows = static_cast<std::int64_t>(c.extent(0));
    c(n % rows, n / rows) *= factor;
  }
};

template <class T>
void LocalProduct<T>::end(const Matrix<T>& c) const {
  if (beta_ == T(1)) return;
  if (beta_ == T(0)) { // whatever C was, even if it is no number
    Kokkos::deep_copy(Space(), c, T(0));
    return;
  }
  Kokkos::parallel_for("matmul/scale",
                       Kokkos::RangePolicy<Space, Kokkos::IndexType<std::int64_t>>(
                           Space(), 0, static_cast<std::int64_t>(c.size())),
                       Scale<T>{c, beta_});
}

template class LocalProduct<float>;
template class LocalProduct<double>;

} // namespace kontor::matmul
