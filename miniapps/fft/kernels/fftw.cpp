// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "fft/kernels/fftw.hpp"

#include <kontor/device/noncopyable.hpp>

#include <fftw3.h>

#include <vector>

namespace kontor::fft {
namespace {

/// The names of FFTW for a scalar type.
template <class T>
struct Fftw;
#define KONTOR_FFTW(T, p)                                                                                              \
  template <>                                                                                                          \
  struct Fftw<T> {                                                                                                     \
    using Plan = p##plan;                                                                                              \
    using Complex = p##complex;                                                                                        \
    static constexpr auto plan = p##plan_dft_1d;                                                                       \
    static constexpr auto plan_forward = p##plan_dft_r2c_1d;                                                           \
    static constexpr auto plan_backward = p##plan_dft_c2r_1d;                                                          \
    static constexpr auto execute = p##execute_dft;                                                                    \
    static constexpr auto execute_forward = p##execute_dft_r2c;                                                        \
    static constexpr auto execute_backward = p##execute_dft_c2r;                                                       \
    static constexpr auto destroy = p##destroy_plan;                                                                   \
  };
KONTOR_FFTW(float, fftwf_)
KONTOR_FFTW(double, fftw_)
#undef KONTOR_FFTW

template <class T>
auto* as_fftw(Complex<T>* values) {
  return reinterpret_cast<typename Fftw<T>::Complex*>(values);
}

/// Plans of one line, which all lines share: so a line has the same bits wherever it is. They are made without trying
/// (FFTW_ESTIMATE), which gives the same plan in each run and on each rank.
template <class T>
class Plan : device::NonCopyable {
 public:
  explicit Plan(typename Fftw<T>::Plan plan) : plan_(plan) {}
  ~Plan() { Fftw<T>::destroy(plan_); }
  auto get() const { return plan_; }

 private:
  typename Fftw<T>::Plan plan_;
};

/// Whether each line begins as its array does, for FFTW's vector instructions.
unsigned flags(std::size_t bytes_of_line) { return FFTW_ESTIMATE | (bytes_of_line % 16 == 0 ? 0 : FFTW_UNALIGNED); }

template <class Line>
void for_lines(const Space& instance, std::int64_t lines, const Line& line) {
  Kokkos::parallel_for("fft/lines", Kokkos::RangePolicy<Space, Kokkos::IndexType<std::int64_t>>(instance, 0, lines),
                       line);
}

template <class T>
class FftwComplexLines final : public ComplexLines<T> {
 public:
  explicit FftwComplexLines(std::int64_t n)
      : n_(n), room_("fft/planned line", static_cast<std::size_t>(n)), forward_(plan(FFTW_FORWARD)),
        backward_(plan(FFTW_BACKWARD)) {}

  void transform(const Space& instance, Complex<T>* data, std::int64_t lines, Direction direction) override {
    const auto plan = direction == Direction::forward ? forward_.get() : backward_.get();
    for_lines(instance, lines, [=, n = n_](std::int64_t i) {
      Fftw<T>::execute(plan, as_fftw<T>(data + i * n), as_fftw<T>(data + i * n));
    });
  }

 private:
  auto plan(int sign) {
    auto* const line = as_fftw<T>(room_.data());
    return Fftw<T>::plan(static_cast<int>(n_), line, line, sign, flags(static_cast<std::size_t>(n_) * sizeof(*line)));
  }

  std::int64_t n_;
  Kokkos::View<Complex<T>*, Kokkos::HostSpace> room_; ///< as aligned as all Views
  Plan<T> forward_, backward_;
};

template <class T>
class FftwRealLines final : public RealLines<T> {
 public:
  explicit FftwRealLines(std::int64_t n)
      : n_(n), real_("fft/planned line", static_cast<std::size_t>(n)),
        complex_("fft/planned coefficients", static_cast<std::size_t>(n / 2 + 1)),
        forward_(
            Fftw<T>::plan_forward(static_cast<int>(n), real_.data(), as_fftw<T>(complex_.data()), flags_of_both())),
        backward_(
            Fftw<T>::plan_backward(static_cast<int>(n), as_fftw<T>(complex_.data()), real_.data(), flags_of_both())) {}

  void forward(const Space& instance, const T* from, Complex<T>* to, std::int64_t lines) override {
    for_lines(instance, lines, [=, n = n_, plan = forward_.get()](std::int64_t i) {
      Fftw<T>::execute_forward(plan, const_cast<T*>(from + i * n), as_fftw<T>(to + i * (n / 2 + 1))); // it only reads
    });
  }
  void backward(const Space& instance, Complex<T>* from, T* to, std::int64_t lines) override {
    for_lines(instance, lines, [=, n = n_, plan = backward_.get()](std::int64_t i) {
      Fftw<T>::execute_backward(plan, as_fftw<T>(from + i * (n / 2 + 1)), to + i * n);
    });
  }

 private:
  unsigned flags_of_both() const {
    const auto n = static_cast<std::size_t>(n_);
    return flags(n * sizeof(T)) | flags((n / 2 + 1) * sizeof(Complex<T>));
  }

  std::int64_t n_;
  Kokkos::View<T*, Kokkos::HostSpace> real_;
  Kokkos::View<Complex<T>*, Kokkos::HostSpace> complex_;
  Plan<T> forward_, backward_;
};

} // namespace

std::string fftw_name() { return ::fftw_version; }

template <class T>
std::unique_ptr<ComplexLines<T>> make_fftw_complex_lines(std::int64_t n) {
  return std::make_unique<FftwComplexLines<T>>(n);
}
template <class T>
std::unique_ptr<RealLines<T>> make_fftw_real_lines(std::int64_t n) {
  return std::make_unique<FftwRealLines<T>>(n);
}

template std::unique_ptr<ComplexLines<float>> make_fftw_complex_lines(std::int64_t);
template std::unique_ptr<ComplexLines<double>> make_fftw_complex_lines(std::int64_t);
template std::unique_ptr<RealLines<float>> make_fftw_real_lines(std::int64_t);
template std::unique_ptr<RealLines<double>> make_fftw_real_lines(std::int64_t);

} // namespace kontor::fft
