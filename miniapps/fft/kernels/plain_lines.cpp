// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "fft/kernels/libraries.hpp"
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
    const double angle = 2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(n);
    host(k) = Complex<T>(static_cast<T>(std::cos(angle)), static_cast<T>(-std::sin(angle)));
  }
  roots.root = Kokkos::create_mirror_view_and_copy(Space::memory_space(), host);
  return roots;
}

template <class T>
class PlainLines final : public Lines<T> {
 public:
  explicit PlainLines(const LineShape& shape) : shape_(shape), roots_(roots_of<T>(shape.n)) {
    for (auto* room : {&first_, &second_})
      *room = Kokkos::View<Complex<T>*>(Kokkos::view_alloc("fft/plain lines", Kokkos::WithoutInitializing),
                                        static_cast<std::size_t>(shape.n * shape.most_lines));
  }

  void transform(const Space& instance, T* from, T* to, std::int64_t lines, Direction direction) override {
    const auto n = shape_.n, half = shape_.coefficients() / 2;
    const bool backward = direction == Direction::backward;
    auto* const in = reinterpret_cast<Complex<T>*>(from);
    auto* const out = reinterpret_cast<Complex<T>*>(to);
    const auto run = [&](const auto& load, const auto& store) {
      plain_lines(instance, roots_, n, lines, backward, first_.data(), second_.data(), load, store);
    };
    if (!shape_.real)
      run(
          KOKKOS_LAMBDA(std::int64_t line, std::int64_t j) { return in[line * n + j]; },
          KOKKOS_LAMBDA(std::int64_t line, std::int64_t k, const Complex<T>& value) { out[line * n + k] = value; });
    else if (!backward)
      run(
          KOKKOS_LAMBDA(std::int64_t line, std::int64_t j) { return Complex<T>(from[line * n + j], T(0)); },
          KOKKOS_LAMBDA(std::int64_t line, std::int64_t k, const Complex<T>& value) {
            if (k < half) out[line * half + k] = value;
          });
    else
      run(
          KOKKOS_LAMBDA(std::int64_t line, std::int64_t j) {
            return j < half ? in[line * half + j] : Kokkos::conj(in[line * half + n - j]); // by their symmetry
          },
          KOKKOS_LAMBDA(std::int64_t line, std::int64_t k, const Complex<T>& value) {
            to[line * n + k] = value.real();
          });
  }

 private:
  LineShape shape_;
  Roots<T> roots_;
  Kokkos::View<Complex<T>*> first_, second_;
};

} // namespace

template <class T>
std::unique_ptr<Lines<T>> make_plain_lines(const LineShape& shape) {
  return std::make_unique<PlainLines<T>>(shape);
}
template std::unique_ptr<Lines<float>> make_plain_lines(const LineShape&);
template std::unique_ptr<Lines<double>> make_plain_lines(const LineShape&);

} // namespace kontor::fft
