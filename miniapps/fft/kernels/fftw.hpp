// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "fft/kernels/lines.hpp"

/// Lines by FFTW, on a host.
namespace kontor::fft {

/// Local. "fftw-3.3.10-sse2-avx-...".
std::string fftw_name();

template <class T>
std::unique_ptr<ComplexLines<T>> make_fftw_complex_lines(std::int64_t n);
template <class T>
std::unique_ptr<RealLines<T>> make_fftw_real_lines(std::int64_t n);

} // namespace kontor::fft
