// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "fft/kernels/libraries.hpp"

#include <kontor/device/noncopyable.hpp>

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

/// Plans of one line, which all lines share. They are made without trying (FFTW_ESTIMATE), which gives the same plan in
/// each run and on each rank.
template <class T>
class FftwLines final : public Lines<T>, device::NonCopyable {
  using F = Fftw<T>;

 public:
  explicit FftwLines(const LineShape& shape) : shape_(shape) {
    const auto n = static_cast<int>(shape.n);
    const Kokkos::View<T*, Kokkos::HostSpace> line("fft/planned values", static_cast<std::size_t>(shape.values())),
        room("fft/planned coefficients", static_cast<std::size_t>(shape.coefficients()));
    auto* const complex = as_complex(room.data());
    // Whether each line begins as aligned as its array does, for FFTW's vector instructions.
    const auto bytes = [](std::int64_t scalars) { return static_cast<std::size_t>(scalars) * sizeof(T); };
    const bool aligned = bytes(shape.values()) % 16 == 0 && bytes(shape.coefficients()) % 16 == 0;
    const unsigned flags = FFTW_ESTIMATE | (aligned ? 0 : FFTW_UNALIGNED);
    forward_ = shape.real ? F::plan_forward(n, line.data(), complex, flags)
                          : F::plan(n, complex, complex, FFTW_FORWARD, flags);
    backward_ = shape.real ? F::plan_backward(n, complex, line.data(), flags)
                           : F::plan(n, complex, complex, FFTW_BACKWARD, flags);
  }
  ~FftwLines() override {
    F::destroy(forward_);
    F::destroy(backward_);
  }

  void transform(const Space& instance, T* from, T* to, std::int64_t lines, Direction direction) override {
    const bool forward = direction == Direction::forward, real = shape_.real;
    const auto values = shape_.values(), coefficients = shape_.coefficients();
    const auto plan = forward ? forward_ : backward_;
    Kokkos::parallel_for("fft/lines", Kokkos::RangePolicy<Space, Kokkos::IndexType<std::int64_t>>(instance, 0, lines),
                         [=](std::int64_t line) {
                           T* const in = from + line * (forward ? values : coefficients);
                           T* const out = to + line * (forward ? coefficients : values);
                           if (!real)
                             F::execute(plan, as_complex(in), as_complex(out));
                           else if (forward)
                             F::execute_forward(plan, in, as_complex(out));
                           else
                             F::execute_backward(plan, as_complex(in), out);
                         });
  }

 private:
  static auto* as_complex(T* values) { return reinterpret_cast<typename F::Complex*>(values); }

  LineShape shape_;
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
