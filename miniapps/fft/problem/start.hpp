// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "fft/options.hpp"
#include "fft/problem/pencil.hpp"

#include <complex>
#include <vector>

/// Where a repeat begins: products X(x) Y(y) Z(z) of random numbers along the axes, whose transform is the product of
/// their transforms. So each coefficient, and the solution at each place, is known from sums over single axes.
namespace kontor::fft {

/// A function along an axis.
using Along = std::vector<std::complex<double>>;

/// Local. The field is the sum of some products: of one, or for poisson, where it is the right-hand side of
/// - Laplace u = f with u = X Y Z, of the three that have second derivatives along one axis.
std::vector<std::array<Along, 3>> start_of(const Options&);

/// Local; waits. Own values of a sum of products, z slowest, real or complex as the deck says.
template <class T>
void fill(const std::vector<std::array<Along, 3>>& products, const Options&, const Pencil&, T* values);

/// Local. The wave number of a coefficient of n: from -n / 2 up.
inline std::int64_t wave_number(std::int64_t k, std::int64_t n) { return 2 * k <= n ? k : k - n; }

} // namespace kontor::fft
