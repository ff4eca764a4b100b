// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "fft/problem/start.hpp"

#include <kontor/device/compat.hpp>

#include <cmath>
#include <numbers>
#include <random>

namespace kontor::fft {
namespace {

/// Random numbers from -1 to 1. Of the bits of std::mt19937_64, which all standard libraries share.
Along random_along(const Options& o, int axis) {
  std::mt19937_64 bits(static_cast<std::uint64_t>(o.seed) * 3 + static_cast<std::uint64_t>(axis));
  const auto number = [&] { return std::ldexp(static_cast<double>(bits() >> 11), -52) - 1; };
  Along values;
  for (std::int64_t i = 0; i < o.cells[static_cast<std::size_t>(axis)]; ++i) {
    const double real = number(), imaginary = number();
    values.emplace_back(real, o.real() ? 0 : imaginary);
  }
  return values;
}

/// The function whose coefficient of each wave number k is that of `along` times factor(k), an even function: a sum
/// over pairs, for any length.
template <class Factor>
Along filtered(const Along& along, const Factor& factor) {
  const auto n = static_cast<std::int64_t>(along.size());
  const auto turn = [&](std::int64_t k, int sign) {
    return std::polar(1.0, sign * 2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(n));
  };
  Along coefficients(along.size()), result(along.size());
  for (int pass = 0; pass < 2; ++pass) {
    Along roots(along.size());
    for (std::int64_t k = 0; k < n; ++k) roots[static_cast<std::size_t>(k)] = turn(k, pass == 0 ? -1 : 1);
    const auto& from = pass == 0 ? along : coefficients;
    auto& to = pass == 0 ? coefficients : result;
    for (std::int64_t k = 0; k < n; ++k) {
      std::complex<double> sum = 0;
      for (std::int64_t j = 0; j < n; ++j)
        sum += from[static_cast<std::size_t>(j)] * roots[static_cast<std::size_t>(j * k % n)];
      to[static_cast<std::size_t>(k)] =
          pass == 0 ? sum * factor(static_cast<double>(wave_number(k, n))) : sum / static_cast<double>(n);
    }
  }
  return result;
}

} // namespace

std::vector<std::array<Along, 3>> start_of(const Options& o) {
  std::array<Along, 3> u{random_along(o, 0), random_along(o, 1), random_along(o, 2)};
  const auto without_mean = [](double k) { return k == 0 ? 0.0 : 1.0; }; // which would not decay
  if (o.equation == Equation::heat) u[0] = filtered(u[0], without_mean);
  if (o.equation != Equation::poisson) return {u};
  std::vector<std::array<Along, 3>> f(3);
  for (int axis = 0; axis < 3; ++axis) { // smooth, or its second derivative would drown it; along x of mean 0
    const auto smooth = [&](double k) { return axis == 0 && k == 0 ? 0 : 1 / (1 + k * k); };
    const auto function = filtered(u[axis], smooth);
    const auto derivative = filtered(u[axis], [&](double k) { return k * k * smooth(k); });
    for (int product = 0; product < 3; ++product) f[product][axis] = product == axis ? derivative : function;
  }
  return f;
}

template <class T>
void fill(const std::vector<std::array<Along, 3>>& products, const Options& o, const Pencil& pencil, T* values) {
  const auto nx = pencil.extent(0), ny = pencil.extent(1);
  const std::int64_t parts = o.real() ? 1 : 2;
  const Kokkos::View<T*, Space::memory_space, Kokkos::MemoryUnmanaged> all(
      values, static_cast<std::size_t>(pencil.size() * parts));
  const auto host = Kokkos::create_mirror_view(all);
  const auto at = [&](const std::array<Along, 3>& product, int axis, std::int64_t i) {
    return product[axis][static_cast<std::size_t>(pencil.own[axis].begin + i)];
  };
  Kokkos::parallel_for(
      "fft/fill",
      Kokkos::RangePolicy<Kokkos::DefaultHostExecutionSpace, Kokkos::IndexType<std::int64_t>>(0, pencil.lines()),
      [&](std::int64_t line) {
        for (std::int64_t i = 0; i < nx; ++i) {
          std::complex<double> sum = 0;
          for (const auto& product : products)
            sum += at(product, 0, i) * at(product, 1, line % ny) * at(product, 2, line / ny);
          host((line * nx + i) * parts) = static_cast<T>(sum.real());
          if (parts == 2) host((line * nx + i) * parts + 1) = static_cast<T>(sum.imag());
        }
      });
  Kokkos::deep_copy(all, host);
}

template void fill(const std::vector<std::array<Along, 3>>&, const Options&, const Pencil&, float*);
template void fill(const std::vector<std::array<Along, 3>>&, const Options&, const Pencil&, double*);

} // namespace kontor::fft
