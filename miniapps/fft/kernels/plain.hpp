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

/// Local; queued on `instance`. Transforms lines of n values that lie one after the other, in place: forward with
/// e^(-2 pi i j k / n), backward with its conjugate, neither scaled. Stockham's algorithm: of each prime factor one
/// pass, from one array into the other (C. Van Loan, Computational Frameworks for the Fast Fourier Transform, SIAM
/// 1992, section 1.7).
template <class T>
void plain_lines(const Space& instance, const Roots<T>& roots, std::int64_t n, std::int64_t lines, bool backward,
                 Complex<T>* data, Complex<T>* scratch) {
  Kokkos::parallel_for(
      "fft/plain lines", Kokkos::RangePolicy<Space, Kokkos::IndexType<std::int64_t>>(instance, 0, lines),
      KOKKOS_LAMBDA(std::int64_t line) {
        Complex<T>*from = data + line * n, *to = scratch + line * n;
        const auto root = [&](std::int64_t k) { return backward ? Kokkos::conj(roots.root(k)) : roots.root(k); };
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
        if (from != data + line * n)
          for (std::int64_t i = 0; i < n; ++i) to[i] = from[i];
      });
}

} // namespace kontor::fft
