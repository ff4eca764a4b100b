// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "fft/kernels/lines.hpp"

#include "fft/kernels/libraries.hpp"

#include <kontor/device/compat.hpp>

namespace kontor::fft {

Library usual_library() {
  for (const auto library : {Library::cufft, Library::hipfft, Library::fftw})
    if (!refusal_of(library)) return library;
  return Library::plain;
}

std::optional<std::string> refusal_of(Library library) {
  if (library == Library::fftw && !device::kernels_on_host)
    return "is fftw, but fields lie in the memory of a GPU; choose plain or auto";
#ifndef KONTOR_FFT_FFTW
  if (library == Library::fftw)
    return "is fftw, but FFTW was not found when Kontor was built: install it (Debian/Ubuntu: apt-get install "
           "libfftw3-dev) and build again, or choose plain or auto";
#endif
#ifndef KONTOR_FFT_CUFFT
  if (library == Library::cufft)
    return "is cufft, but Kontor was built without CUDA or without cuFFT; choose another, or auto";
#endif
#ifndef KONTOR_FFT_HIPFFT
  if (library == Library::hipfft)
    return "is hipfft, but Kontor was built without HIP or without hipFFT; choose another, or auto";
#endif
  return {};
}

std::string name_of([[maybe_unused]] Library library) {
#ifdef KONTOR_FFT_FFTW
  if (library == Library::fftw) return fftw_name();
#endif
#if defined(KONTOR_FFT_CUFFT) || defined(KONTOR_FFT_HIPFFT)
  if (library == Library::cufft || library == Library::hipfft) return cufft_name();
#endif
  return "plain loops";
}

template <class T>
std::unique_ptr<Lines<T>> make_lines([[maybe_unused]] Library library, const LineShape& shape) {
#ifdef KONTOR_FFT_FFTW
  if (library == Library::fftw) return make_fftw_lines<T>(shape);
#endif
#if defined(KONTOR_FFT_CUFFT) || defined(KONTOR_FFT_HIPFFT)
  if (library == Library::cufft || library == Library::hipfft) return make_cufft_lines<T>(shape);
#endif
  return make_plain_lines<T>(shape);
}

template std::unique_ptr<Lines<float>> make_lines(Library, const LineShape&);
template std::unique_ptr<Lines<double>> make_lines(Library, const LineShape&);

} // namespace kontor::fft
