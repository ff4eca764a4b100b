// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "fft/kernels/lines.hpp"

#include "fft/kernels/plain_lines.hpp"
#ifdef KONTOR_FFT_FFTW
#include "fft/kernels/fftw.hpp"
#endif
#ifdef KONTOR_FFT_CUFFT
#include "fft/kernels/cufft.hpp"
#endif

#include <kontor/device/compat.hpp>

#include <stdexcept>

namespace kontor::fft {

Library usual_library() {
  for (const auto library : {Library::cufft, Library::fftw})
    if (!refusal_of(library)) return library;
  return Library::plain;
}

std::optional<std::string> refusal_of(Library library) {
  if (library == Library::fftw) {
    if (!device::kernels_on_host) return "is fftw, but fields lie in the memory of a GPU; choose cufft, plain or auto";
#ifndef KONTOR_FFT_FFTW
    return "is fftw, but FFTW was not found when Kontor was built: install it (Debian/Ubuntu: apt-get install "
           "libfftw3-dev) and build again, or choose plain or auto";
#endif
  }
#ifndef KONTOR_FFT_CUFFT
  if (library == Library::cufft)
    return "is cufft, but Kontor was built without CUDA or without cuFFT; choose another, or auto";
#endif
  return {};
}

std::string name_of([[maybe_unused]] Library library) {
#ifdef KONTOR_FFT_FFTW
  if (library == Library::fftw) return fftw_name();
#endif
#ifdef KONTOR_FFT_CUFFT
  if (library == Library::cufft) return cufft_name();
#endif
  return "plain loops";
}

template <class T>
std::unique_ptr<ComplexLines<T>> make_complex_lines(Library library, std::int64_t n, std::int64_t most_lines) {
#ifdef KONTOR_FFT_FFTW
  if (library == Library::fftw) return make_fftw_complex_lines<T>(n);
#endif
#ifdef KONTOR_FFT_CUFFT
  if (library == Library::cufft) return make_cufft_complex_lines<T>(n);
#endif
  if (library != Library::plain) throw std::logic_error("fft: a library that is not here");
  return make_plain_complex_lines<T>(n, most_lines);
}

template <class T>
std::unique_ptr<RealLines<T>> make_real_lines(Library library, std::int64_t n, std::int64_t most_lines) {
#ifdef KONTOR_FFT_FFTW
  if (library == Library::fftw) return make_fftw_real_lines<T>(n);
#endif
#ifdef KONTOR_FFT_CUFFT
  if (library == Library::cufft) return make_cufft_real_lines<T>(n);
#endif
  if (library != Library::plain) throw std::logic_error("fft: a library that is not here");
  return make_plain_real_lines<T>(n, most_lines);
}

template std::unique_ptr<ComplexLines<float>> make_complex_lines(Library, std::int64_t, std::int64_t);
template std::unique_ptr<ComplexLines<double>> make_complex_lines(Library, std::int64_t, std::int64_t);
template std::unique_ptr<RealLines<float>> make_real_lines(Library, std::int64_t, std::int64_t);
template std::unique_ptr<RealLines<double>> make_real_lines(Library, std::int64_t, std::int64_t);

} // namespace kontor::fft
