// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "fft/problem/pencil.hpp"

/// Transforms by the loops of a textbook.
namespace kontor::fft {

/// The n-th roots of 1, e^(-2 pi i k / n), and the prime factors of n.
template <class T>
struct Roots {
  Kokkos::View<const Complex<T>*> root;
  Kokkos::Array<int, 16> factor{};
  int factors = 0;
};

/// Local; queued on `instance`. Transforms lines of n values: forward with e^(-2 pi i j k / n), backward with its
/// conjugate, neither scaled. load(line, j) gives a value, store(line, k, result) takes one. Stockham's algorithm: for
/// each prime factor a pass from one array into another, of both of which there is room for all lines (C. Van Loan,
/// Computational Frameworks for the Fast Fourier Transform, SIAM 1992, section 1.7).
template <class T, class Load, class Store>
void plain_lines(const Space& instance, const Roots<T>& roots, std::int64_t n, std::int64_t lines, bool backward,
                 Complex<T>* first, Complex<T>* second, const Load& load, const Store& store) {
  Kokkos::parallel_for(
      "fft/plain lines", Kokkos::RangePolicy<Space, Kokkos::IndexType<std::int64_t>>(instance, 0, lines),
      KOKKOS_LAMBDA(std::int64_t line) {
        const auto root = [&](std::int64_t k) { return backward ? Kokkos::conj(roots.root(k)) : roots.root(k); };
        Complex<T>* from = first + line * n;
        Complex<T>* to = second + line * n;
        for (std::int64_t j = 0; j < n; ++j) from[j] = load(line, j);
        std::int64_t left = n, done = 1; // left * done = n
        for (int f = 0; f < roots.factors; ++f) {
          const std::int64_t r = roots.factor[f], m = left / r;
          for (std::int64_t k = 0; k < m; ++k)
            for (std::int64_t q = 0; q < r; ++q) {
              const auto turn = root(q * k * done);
              for (std::int64_t s = 0; s < done; ++s) {
                Complex<T> sum = from[s + done * k];
                for (std::int64_t p = 1; p < r; ++p) sum += from[s + done * (k + m * p)] * root(p * q % r * (n / r));
                to[s + done * (q + r * k)] = sum * turn;
              }
            }
          left = m;
          done *= r;
          auto* const swapped = from;
          from = to;
          to = swapped;
        }
        for (std::int64_t k = 0; k < n; ++k) store(line, k, from[k]);
      });
}

} // namespace kontor::fft
