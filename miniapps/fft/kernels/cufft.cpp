// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "fft/kernels/cufft.hpp"

#include <kontor/device/noncopyable.hpp>

#include <cufft.h>
#include <fmt/format.h>

#include <map>
#include <stdexcept>
#include <type_traits>

namespace kontor::fft {
namespace {

void check(cufftResult code, const char* call) {
  if (code != CUFFT_SUCCESS) throw std::runtime_error(fmt::format("{}: error {}", call, static_cast<int>(code)));
}

/// A plan for each number of lines that are transformed together: parts of a transpose differ by one.
class Plans : device::NonCopyable {
 public:
  Plans(std::int64_t n, cufftType type) : n_(static_cast<int>(n)), type_(type) {}
  ~Plans() {
    for (const auto& [lines, plan] : plans_) cufftDestroy(plan);
  }

  /// Local. On the instance's stream. Makes a plan at the first call for so many lines, which no graph may capture.
  cufftHandle on(const Space& instance, std::int64_t lines) {
    auto at = plans_.find(lines);
    if (at == plans_.end()) {
      cufftHandle plan = 0;
      check(cufftPlanMany(&plan, 1, &n_, nullptr, 1, 0, nullptr, 1, 0, type_, static_cast<int>(lines)),
            "cufftPlanMany");
      at = plans_.emplace(lines, plan).first;
    }
    check(cufftSetStream(at->second, instance.cuda_stream()), "cufftSetStream");
    return at->second;
  }

 private:
  int n_;
  cufftType type_;
  std::map<std::int64_t, cufftHandle> plans_;
};

template <class T>
constexpr bool single = std::is_same_v<T, float>;
template <class T>
using CufftComplex = std::conditional_t<single<T>, cufftComplex, cufftDoubleComplex>;

template <class T>
auto* as_cufft(Complex<T>* values) {
  return reinterpret_cast<CufftComplex<T>*>(values);
}

template <class T>
class CufftComplexLines final : public ComplexLines<T> {
 public:
  explicit CufftComplexLines(std::int64_t n) : plans_(n, single<T> ? CUFFT_C2C : CUFFT_Z2Z) {}

  void transform(const Space& instance, Complex<T>* data, std::int64_t lines, Direction direction) override {
    if (lines == 0) return;
    const auto plan = plans_.on(instance, lines);
    const int sign = direction == Direction::forward ? CUFFT_FORWARD : CUFFT_INVERSE;
    auto* const values = as_cufft<T>(data);
    if constexpr (single<T>)
      check(cufftExecC2C(plan, values, values, sign), "cufftExecC2C");
    else
      check(cufftExecZ2Z(plan, values, values, sign), "cufftExecZ2Z");
  }

 private:
  Plans plans_;
};

template <class T>
class CufftRealLines final : public RealLines<T> {
 public:
  explicit CufftRealLines(std::int64_t n)
      : forward_(n, single<T> ? CUFFT_R2C : CUFFT_D2Z), backward_(n, single<T> ? CUFFT_C2R : CUFFT_Z2D) {}

  void forward(const Space& instance, const T* from, Complex<T>* to, std::int64_t lines) override {
    if (lines == 0) return;
    const auto plan = forward_.on(instance, lines);
    auto* const values = const_cast<T*>(from); // which it only reads
    if constexpr (single<T>)
      check(cufftExecR2C(plan, values, as_cufft<T>(to)), "cufftExecR2C");
    else
      check(cufftExecD2Z(plan, values, as_cufft<T>(to)), "cufftExecD2Z");
  }
  void backward(const Space& instance, Complex<T>* from, T* to, std::int64_t lines) override {
    if (lines == 0) return;
    const auto plan = backward_.on(instance, lines);
    if constexpr (single<T>)
      check(cufftExecC2R(plan, as_cufft<T>(from), to), "cufftExecC2R");
    else
      check(cufftExecZ2D(plan, as_cufft<T>(from), to), "cufftExecZ2D");
  }

 private:
  Plans forward_, backward_;
};

} // namespace

std::string cufft_name() {
  int version = 0;
  check(cufftGetVersion(&version), "cufftGetVersion");
  return fmt::format("cuFFT {}.{}.{}", version / 1000, version / 100 % 10, version % 100);
}

template <class T>
std::unique_ptr<ComplexLines<T>> make_cufft_complex_lines(std::int64_t n) {
  return std::make_unique<CufftComplexLines<T>>(n);
}
template <class T>
std::unique_ptr<RealLines<T>> make_cufft_real_lines(std::int64_t n) {
  return std::make_unique<CufftRealLines<T>>(n);
}

template std::unique_ptr<ComplexLines<float>> make_cufft_complex_lines(std::int64_t);
template std::unique_ptr<ComplexLines<double>> make_cufft_complex_lines(std::int64_t);
template std::unique_ptr<RealLines<float>> make_cufft_real_lines(std::int64_t);
template std::unique_ptr<RealLines<double>> make_cufft_real_lines(std::int64_t);

} // namespace kontor::fft
