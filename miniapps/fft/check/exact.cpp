// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "fft/check/exact.hpp"

#include <kontor/comm/reductions.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>

namespace kontor::fft {
namespace {

using Number = std::complex<double>;
using Numbers = std::vector<Number>;

/// e^(2 pi i k / n), by its eighth of the circle: exact to the last digit or two.
Number root(std::int64_t k, std::int64_t n) {
  k = (k % n + n) % n;
  if (8 * k <= n) {
    const double angle = 2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(n);
    return {std::cos(angle), std::sin(angle)};
  }
  if (2 * k > n) return std::conj(root(n - k, n));
  if (4 * k > n) {
    const auto mirrored = n - 2 * k; // of 2n: pi less the angle
    return -std::conj(root(mirrored, 2 * n));
  }
  const auto complement = n - 4 * k; // of 4n: pi / 2 less the angle
  const auto other = root(complement, 4 * n);
  return {other.imag(), other.real()};
}

/// sum over j of values[j] e^(sign 2 pi i j k / n), by Horner's rule for each k.
Numbers sums(const Numbers& values, int sign) {
  const auto n = static_cast<std::int64_t>(values.size());
  Numbers result;
  for (std::int64_t k = 0; k < n; ++k) {
    const auto turn = root(sign * k, n);
    Number sum = 0, at = 1;
    for (std::int64_t j = 0; j < n; ++j) {
      if (j % 64 == 0) at = root(sign * (j * k % n), n); // or rounding would add up
      sum += values[static_cast<std::size_t>(j)] * at;
      at *= turn;
    }
    result.push_back(sum);
  }
  return result;
}

/// The square of the wave number of a coefficient.
double square(std::int64_t k, std::int64_t n) {
  const auto number = static_cast<double>(std::min(k, n - k));
  return number * number;
}

template <class Factor>
Numbers function(const Numbers& coefficients, const Factor& factor) {
  const auto n = static_cast<std::int64_t>(coefficients.size());
  Numbers scaled;
  for (std::int64_t k = 0; k < n; ++k)
    scaled.push_back(coefficients[static_cast<std::size_t>(k)] * factor(square(k, n)) / static_cast<double>(n));
  return sums(scaled, 1);
}

/// The square of the 2-norm of a field.
double square_norm(const std::vector<std::array<Numbers, 3>>& products) {
  double sum = 0;
  for (const auto& p : products)
    for (const auto& q : products) {
      Number product = 1;
      for (int axis = 0; axis < 3; ++axis) {
        Number dot = 0;
        for (std::size_t i = 0; i < p[axis].size(); ++i) dot += p[axis][i] * std::conj(q[axis][i]);
        product *= dot;
      }
      sum += product.real();
    }
  return sum;
}

/// Squares of the differences and of the exact values, added up over all ranks.
template <class T>
std::array<double, 2> norms(const comm::Communicator& comm, const std::vector<std::array<Numbers, 3>>& products,
                            const Pencil& pencil, std::int64_t parts, const T* values) {
  const Kokkos::View<const T*, Space::memory_space, Kokkos::MemoryUnmanaged> all(
      values, static_cast<std::size_t>(pencil.size() * parts));
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), all);
  std::array<double, 2> sums{};
  const auto [a, b, c] = pencil.order;
  std::int64_t at = 0;
  for (std::int64_t i = 0; i < pencil.extent(a); ++i)
    for (std::int64_t j = 0; j < pencil.extent(b); ++j)
      for (std::int64_t k = 0; k < pencil.extent(c); ++k, at += parts) {
        Number exact = 0;
        for (const auto& product : products)
          exact += product[a][static_cast<std::size_t>(pencil.own[a].begin + i)] *
                   product[b][static_cast<std::size_t>(pencil.own[b].begin + j)] *
                   product[c][static_cast<std::size_t>(pencil.own[c].begin + k)];
        const Number found(static_cast<double>(host(at)),
                           parts == 2 ? static_cast<double>(host(at + 1)) : exact.imag());
        sums[0] += std::norm(found - exact);
        sums[1] += std::norm(exact);
      }
  return comm::allreduce(comm, sums, comm::ReduceOp::sum);
}

template <class T>
miniapp::Verification compare(const comm::Communicator& comm, const std::vector<std::array<Numbers, 3>>& products,
                              const Pencil& pencil, std::int64_t parts, const T* values, double tolerance,
                              std::string what, std::string judged) {
  constexpr double most = 0.25;
  const auto [difference, exact] = norms(comm, products, pencil, parts, values);
  miniapp::Verification result{.measure = std::move(what),
                               .error = std::sqrt(difference / exact),
                               .tolerance = tolerance,
                               .judged = {std::move(judged)}};
  if (!(exact > 0)) return miniapp::inconclusive("the exact solution is 0 everywhere; choose fewer solver.steps");
  if (tolerance > most && result.passed())
    return miniapp::inconclusive(
        fmt::format("the tolerance, {:.2g} of the solution, would let a wrong one pass; choose "
                    "problem.precision double or fewer solver.steps",
                    tolerance));
  return result;
}

} // namespace

Exact::Exact(const Options& o) : options_(o) {
  for (int axis = 0; axis < 3; ++axis) {
    std::mt19937_64 generator(3 * static_cast<std::uint64_t>(o.seed) + static_cast<std::uint64_t>(axis));
    Numbers values(static_cast<std::size_t>(o.cells[static_cast<std::size_t>(axis)]));
    for (auto& value : values)
      for (int part = 0; part < 2; ++part) {
        const double number = static_cast<double>(generator() / 2048) / 4503599627370496.0 - 1; // 2^52
        if (part == 0) value = number;
        if (part == 1 && !o.real()) value += Number(0, number);
      }
    coefficients_[axis] = sums(values, -1);
  }
}

/// Higham's bound of a transform of 2^m values is some 7 m epsilon (Accuracy and Stability of Numerical Algorithms,
/// SIAM 2002, theorem 24.2). A factor r of the length, of which a sum has r terms, counts as r of them, but a 2 as one.
double Exact::rounding() const {
  double terms = 0;
  for (const auto n : options_.cells)
    for (std::int64_t left = n, r = 2; left > 1; ++r)
      for (; left % r == 0; left /= r) terms += r == 2 ? 1 : static_cast<double>(r);
  const double eps = options_.precision == miniapp::Precision::single_precision
                         ? std::numeric_limits<float>::epsilon()
                         : std::numeric_limits<double>::epsilon();
  return 8 * eps * (terms + 1);
}

/// The field of the deck at the start (time 0), or at the end.
Exact::Products Exact::field(double time) const {
  const auto& o = options_;
  const auto mean = [](int axis, double square) { return axis == 0 && square == 0 ? 0.0 : 1.0; }; // along x none
  const auto smooth = [&](int axis, double square) { return mean(axis, square) / (1 + square); };
  std::array<Numbers, 3> u;
  for (int axis = 0; axis < 3; ++axis)
    u[axis] = function(coefficients_[axis], [&](double square) {
      if (o.equation == Equation::poisson) return smooth(axis, square);
      return o.equation == Equation::heat ? mean(axis, square) * std::exp(-o.diffusion * time * square) : 1.0;
    });
  if (o.equation == Equation::round_trip) {
    const auto moved = static_cast<std::int64_t>(time) % o.cells[0];
    std::ranges::rotate(u[0], u[0].end() - moved);
  }
  if (o.equation != Equation::poisson || time > 0) return {u};
  Products f(3, u);
  for (int axis = 0; axis < 3; ++axis)
    f[axis][axis] = function(coefficients_[axis], [&](double square) { return square * smooth(axis, square); });
  return f;
}

template <class T>
miniapp::Verification Exact::start(const comm::Communicator& comm, const Pencil& pencil, const T* values) const {
  return compare(comm, field(0), pencil, options_.real() ? 1 : 2, values, rounding(),
                 "start of a repeat: difference from the deck's, relative in the 2-norm",
                 "start of each repeat: all values");
}

template <class T>
miniapp::Verification Exact::spectrum(const comm::Communicator& comm, const Pencil& pencil,
                                      const Complex<T>* values) const {
  Products products;
  const auto f = field(0);
  for (const auto& product : f) products.push_back({sums(product[0], -1), sums(product[1], -1), sums(product[2], -1)});
  return compare(comm, products, pencil, 2, reinterpret_cast<const T*>(values), 2 * rounding(),
                 "coefficients of the start: difference from sums over the axes, relative in the 2-norm",
                 "all coefficients of the start");
}

/// No step makes an error of a coefficient larger, so what the transforms of all steps add is relative to where they
/// begin: to the start, or to the right-hand side.
template <class T>
miniapp::Verification Exact::solution(const comm::Communicator& comm, const Pencil& pencil, const T* values,
                                      std::int64_t made) const {
  const auto& o = options_;
  const auto exact = field(static_cast<double>(made));
  const double transforms = 2 * (o.equation == Equation::poisson ? 1.0 : static_cast<double>(made));
  const double tolerance = transforms * rounding() * std::sqrt(square_norm(field(0)) / square_norm(exact));
  return compare(comm, exact, pencil, o.real() ? 1 : 2, values, tolerance + rounding(),
                 "difference from the exact solution, relative in the 2-norm", "all values");
}

#define KONTOR_FFT_EXACT(T)                                                                                            \
  template miniapp::Verification Exact::start(const comm::Communicator&, const Pencil&, const T*) const;               \
  template miniapp::Verification Exact::spectrum(const comm::Communicator&, const Pencil&, const Complex<T>*) const;   \
  template miniapp::Verification Exact::solution(const comm::Communicator&, const Pencil&, const T*, std::int64_t)     \
      const;
KONTOR_FFT_EXACT(float)
KONTOR_FFT_EXACT(double)
#undef KONTOR_FFT_EXACT

} // namespace kontor::fft
