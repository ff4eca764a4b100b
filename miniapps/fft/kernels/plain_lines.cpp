// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "fft/kernels/plain_lines.hpp"

#include "fft/kernels/plain.hpp"

#include <cmath>
#include <numbers>

namespace kontor::fft {
namespace {

template <class T>
Roots<T> roots_of(std::int64_t n) {
  Roots<T> roots;
  for (std::int64_t left = n, r = 2; left > 1;) {
    if (r * r > left) r = left; // which is prime
    if (left % r != 0) {
      ++r;
      continue;
    }
    roots.factor[roots.factors++] = static_cast<int>(r);
    left /= r;
  }
  const Kokkos::View<Complex<T>*, Kokkos::HostSpace> host("fft/roots", static_cast<std::size_t>(n));
  for (std::int64_t k = 0; k < n; ++k) {
    const double turns = static_cast<double>(k) / static_cast<double>(n);
    host(k) = Complex<T>(static_cast<T>(std::cos(2 * std::numbers::pi * turns)),
                         static_cast<T>(-std::sin(2 * std::numbers::pi * turns)));
  }
  roots.root = Kokkos::create_mirror_view_and_copy(Space::memory_space(), host);
  return roots;
}

/// Values of a real line as complex ones.
template <class T>
void widen(const Space& instance, std::int64_t count, const T* from, Complex<T>* to) {
  Kokkos::parallel_for(
      "fft/widen", Kokkos::RangePolicy<Space, Kokkos::IndexType<std::int64_t>>(instance, 0, count),
      KOKKOS_LAMBDA(std::int64_t i) { to[i] = Complex<T>(from[i], T(0)); });
}

/// Half of the coefficients, from all; or all, by their symmetry, from half.
template <class T>
void halve(const Space& instance, std::int64_t n, std::int64_t lines, const Complex<T>* from, Complex<T>* to) {
  const auto half = n / 2 + 1;
  Kokkos::parallel_for(
      "fft/halve", Kokkos::RangePolicy<Space, Kokkos::IndexType<std::int64_t>>(instance, 0, lines * half),
      KOKKOS_LAMBDA(std::int64_t i) { to[i] = from[i / half * n + i % half]; });
}
template <class T>
void complete(const Space& instance, std::int64_t n, std::int64_t lines, const Complex<T>* from, Complex<T>* to) {
  const auto half = n / 2 + 1;
  Kokkos::parallel_for(
      "fft/complete", Kokkos::RangePolicy<Space, Kokkos::IndexType<std::int64_t>>(instance, 0, lines * n),
      KOKKOS_LAMBDA(std::int64_t i) {
        const auto line = i / n, k = i % n;
        to[i] = k < half ? from[line * half + k] : Kokkos::conj(from[line * half + n - k]);
      });
}
template <class T>
void real_parts(const Space& instance, std::int64_t count, const Complex<T>* from, T* to) {
  Kokkos::parallel_for(
      "fft/real parts", Kokkos::RangePolicy<Space, Kokkos::IndexType<std::int64_t>>(instance, 0, count),
      KOKKOS_LAMBDA(std::int64_t i) { to[i] = from[i].real(); });
}

template <class T>
Kokkos::View<Complex<T>*> room_for(std::int64_t n, std::int64_t lines) {
  return Kokkos::View<Complex<T>*>(Kokkos::view_alloc("fft/other lines", Kokkos::WithoutInitializing),
                                   static_cast<std::size_t>(n * lines));
}

template <class T>
class PlainComplexLines final : public ComplexLines<T> {
 public:
  PlainComplexLines(std::int64_t n, std::int64_t lines) : n_(n), roots_(roots_of<T>(n)), other_(room_for<T>(n, lines)) {}

  void transform(const Space& instance, Complex<T>* data, std::int64_t lines, Direction direction) override {
    plain_lines(instance, roots_, n_, lines, direction == Direction::backward, data, other_.data());
  }

 private:
  std::int64_t n_;
  Roots<T> roots_;
  Kokkos::View<Complex<T>*> other_;
};

template <class T>
class PlainRealLines final : public RealLines<T> {
 public:
  PlainRealLines(std::int64_t n, std::int64_t lines) : n_(n), lines_(n, lines), all_(room_for<T>(n, lines)) {}

  void forward(const Space& instance, const T* from, Complex<T>* to, std::int64_t lines) override {
    widen(instance, lines * n_, from, all_.data());
    lines_.transform(instance, all_.data(), lines, Direction::forward);
    halve<T>(instance, n_, lines, all_.data(), to);
  }
  void backward(const Space& instance, Complex<T>* from, T* to, std::int64_t lines) override {
    complete<T>(instance, n_, lines, from, all_.data());
    lines_.transform(instance, all_.data(), lines, Direction::backward);
    real_parts<T>(instance, lines * n_, all_.data(), to);
  }

 private:
  std::int64_t n_;
  PlainComplexLines<T> lines_;
  Kokkos::View<Complex<T>*> all_;
};

} // namespace

template <class T>
std::unique_ptr<ComplexLines<T>> make_plain_complex_lines(std::int64_t n, std::int64_t most_lines) {
  return std::make_unique<PlainComplexLines<T>>(n, most_lines);
}
template <class T>
std::unique_ptr<RealLines<T>> make_plain_real_lines(std::int64_t n, std::int64_t most_lines) {
  return std::make_unique<PlainRealLines<T>>(n, most_lines);
}

template std::unique_ptr<ComplexLines<float>> make_plain_complex_lines(std::int64_t, std::int64_t);
template std::unique_ptr<ComplexLines<double>> make_plain_complex_lines(std::int64_t, std::int64_t);
template std::unique_ptr<RealLines<float>> make_plain_real_lines(std::int64_t, std::int64_t);
template std::unique_ptr<RealLines<double>> make_plain_real_lines(std::int64_t, std::int64_t);

} // namespace kontor::fft
