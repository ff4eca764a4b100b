// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Under cuFFT's names: with HIP each stands for hipFFT's own.
#include "fft/kernels/libraries.hpp"

#include <kontor/device/noncopyable.hpp>

#include <fmt/format.h>

#include <map>
#include <stdexcept>
#include <type_traits>

#if defined(__HIP__)
#include <hipfft/hipfftXt.h>
#define CUDA_C_32F HIP_C_32F
#define CUDA_C_64F HIP_C_64F
#define CUDA_R_32F HIP_R_32F
#define CUDA_R_64F HIP_R_64F
#define CUFFT_FORWARD HIPFFT_FORWARD
#define CUFFT_INVERSE HIPFFT_BACKWARD
#define CUFFT_SUCCESS HIPFFT_SUCCESS
#define cufftCreate hipfftCreate
#define cufftDestroy hipfftDestroy
#define cufftGetVersion hipfftGetVersion
#define cufftHandle hipfftHandle
#define cufftResult hipfftResult
#define cufftSetStream hipfftSetStream
#define cufftXtExec hipfftXtExec
#define cufftXtMakePlanMany hipfftXtMakePlanMany
#define cuda_stream hip_stream
#define KONTOR_GPU_FFT "hipFFT"
#else
#include <cufftXt.h>
#define KONTOR_GPU_FFT "cuFFT"
#endif

namespace kontor::fft {
namespace {

void check(cufftResult code, const char* call) {
  if (code != CUFFT_SUCCESS) throw std::runtime_error(fmt::format("{}: error {}", call, static_cast<int>(code)));
}

/// A plan for each direction and number of lines: chunks of a transpose differ by a line or more.
template <class T>
class CufftLines final : public Lines<T>, device::NonCopyable {
 public:
  explicit CufftLines(const LineShape& shape) : shape_(shape) {
    for (const auto direction : {Direction::forward, Direction::backward}) plan(shape.most_lines, direction);
  }
  ~CufftLines() override {
    for (const auto& [key, plan] : plans_) cufftDestroy(plan);
  }

  /// Makes a plan at the first call for so many lines, which no graph may capture.
  void transform(const Space& instance, T* from, T* to, std::int64_t lines, Direction direction) override {
    if (lines == 0) return;
    const auto of_lines = plan(lines, direction);
    check(cufftSetStream(of_lines, instance.cuda_stream()), "cufftSetStream");
    check(cufftXtExec(of_lines, from, to, direction == Direction::forward ? CUFFT_FORWARD : CUFFT_INVERSE),
          "cufftXtExec");
  }

 private:
  cufftHandle plan(std::int64_t lines, Direction direction) {
    constexpr bool single = std::is_same_v<T, float>;
    const auto complex = single ? CUDA_C_32F : CUDA_C_64F;
    const auto values = !shape_.real ? complex : single ? CUDA_R_32F : CUDA_R_64F;
    const bool forward = direction == Direction::forward;
    const auto key = std::pair(lines, shape_.real && !forward); // of complex values both directions share a plan
    if (const auto at = plans_.find(key); at != plans_.end()) return at->second;
    long long n = shape_.n;
    std::size_t bytes = 0;
    cufftHandle made = 0;
    check(cufftCreate(&made), "cufftCreate");
    plans_.emplace(key, made);
    check(cufftXtMakePlanMany(made, 1, &n, nullptr, 1, 0, forward ? values : complex, nullptr, 1, 0,
                              forward ? complex : values, lines, &bytes, complex),
          "cufftXtMakePlanMany");
    return made;
  }

  LineShape shape_;
  std::map<std::pair<std::int64_t, bool>, cufftHandle> plans_;
};

} // namespace

std::string cufft_name() {
  int version = 0;
  check(cufftGetVersion(&version), "cufftGetVersion");
  return fmt::format(KONTOR_GPU_FFT " {}.{}.{}", version / 1000, version / 100 % 10, version % 100);
}

template <class T>
std::unique_ptr<Lines<T>> make_cufft_lines(const LineShape& shape) {
  return std::make_unique<CufftLines<T>>(shape);
}
template std::unique_ptr<Lines<float>> make_cufft_lines(const LineShape&);
template std::unique_ptr<Lines<double>> make_cufft_lines(const LineShape&);

} // namespace kontor::fft
