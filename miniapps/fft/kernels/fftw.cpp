// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "fft/kernels/libraries.hpp"

#include <kontor/device/noncopyable.hpp>

#include <algorithm>
#include <fftw3.h>

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
    static constexpr auto plan = p##plan_many_dft;                                                                     \
    static constexpr auto plan_forward = p##plan_many_dft_r2c;                                                         \
    static constexpr auto plan_backward = p##plan_many_dft_c2r;                                                        \
    static constexpr auto execute = p##execute_dft;                                                                    \
    static constexpr auto execute_forward = p##execute_dft_r2c;                                                        \
    static constexpr auto execute_backward = p##execute_dft_c2r;                                                       \
    static constexpr auto destroy = p##destroy_plan;                                                                   \
  };
KONTOR_FFTW(float, fftwf_)
KONTOR_FFTW(double, fftw_)
#undef KONTOR_FFTW

/// A plan of eight complex lines, whose values fill vectors across lines: up to twice as fast as one line after
/// another. All lines go by it, the last few by way of a group of their own, so that each has the same bits wherever it
/// lies. Of real lines a plan has one, which is twice as fast. Plans are made without trying (FFTW_ESTIMATE), which
/// gives the same one in each run and on each rank.
template <class T>
class FftwLines final : public Lines<T>, device::NonCopyable {
  using F = Fftw<T>;

 public:
  explicit FftwLines(const LineShape& shape)
      : shape_(shape), values_("fft/last values", static_cast<std::size_t>(group_ * shape.values())),
        coefficients_("fft/last coefficients", static_cast<std::size_t>(group_ * shape.coefficients())) {
    const auto group = static_cast<int>(group_);
    const int n[] = {static_cast<int>(shape.n)}, line = n[0], modes = static_cast<int>(shape.coefficients() / 2);
    auto* const values = values_.data();
    auto* const complex = as_complex(coefficients_.data());
    // Whether each line begins as aligned as its array does, for FFTW's vector instructions.
    const auto bytes = [](std::int64_t scalars) { return static_cast<std::size_t>(scalars) * sizeof(T); };
    const bool aligned = bytes(shape.values()) % 16 == 0 && bytes(shape.coefficients()) % 16 == 0;
    const unsigned flags = FFTW_ESTIMATE | (aligned ? 0 : FFTW_UNALIGNED);
    if (shape.real) {
      forward_ = F::plan_forward(1, n, group, values, nullptr, 1, line, complex, nullptr, 1, modes, flags);
      backward_ = F::plan_backward(1, n, group, complex, nullptr, 1, modes, values, nullptr, 1, line, flags);
    } else {
      forward_ = F::plan(1, n, group, complex, nullptr, 1, line, complex, nullptr, 1, line, FFTW_FORWARD, flags);
      backward_ = F::plan(1, n, group, complex, nullptr, 1, line, complex, nullptr, 1, line, FFTW_BACKWARD, flags);
    }
  }
  ~FftwLines() override {
    F::destroy(forward_);
    F::destroy(backward_);
  }

  void transform(const Space& instance, T* from, T* to, std::int64_t lines, Direction direction) override {
    const bool forward = direction == Direction::forward;
    const auto group = group_;
    const auto read = forward ? shape_.values() : shape_.coefficients();
    const auto written = forward ? shape_.coefficients() : shape_.values();
    T* const last_in = shape_.real && forward ? values_.data() : coefficients_.data();
    T* const last_out = shape_.real && !forward ? values_.data() : coefficients_.data();
    Kokkos::parallel_for(
        "fft/lines",
        Kokkos::RangePolicy<Space, Kokkos::IndexType<std::int64_t>>(instance, 0, (lines + group - 1) / group),
        [=, this](std::int64_t n) {
          T* const in = from + n * group * read;
          T* const out = to + n * group * written;
          const auto count = std::min(group, lines - n * group);
          if (count == group) return execute(direction, in, out);
          std::fill_n(std::copy_n(in, count * read, last_in), (group - count) * read, T(0));
          execute(direction, last_in, last_out);
          std::copy_n(last_out, count * written, out);
        });
  }

 private:
  static auto* as_complex(T* values) { return reinterpret_cast<typename F::Complex*>(values); }

  void execute(Direction direction, T* in, T* out) const {
    const bool forward = direction == Direction::forward;
    if (!shape_.real)
      F::execute(forward ? forward_ : backward_, as_complex(in), as_complex(out));
    else if (forward)
      F::execute_forward(forward_, in, as_complex(out));
    else
      F::execute_backward(backward_, as_complex(in), out);
  }

  LineShape shape_;
  std::int64_t group_ = shape_.real ? 1 : 8;   ///< lines of a plan
  Kokkos::View<T*, Kokkos::HostSpace> values_; ///< of the last group, which may have fewer lines
  Kokkos::View<T*, Kokkos::HostSpace> coefficients_;
  typename F::Plan forward_, backward_;
};

} // namespace

std::string fftw_name() { return fftw_version; }

template <class T>
std::unique_ptr<Lines<T>> make_fftw_lines(const LineShape& shape) {
  return std::make_unique<FftwLines<T>>(shape);
}
template std::unique_ptr<Lines<float>> make_fftw_lines(const LineShape&);
template std::unique_ptr<Lines<double>> make_fftw_lines(const LineShape&);

} // namespace kontor::fft
