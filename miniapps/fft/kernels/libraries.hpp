// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "fft/kernels/lines.hpp"

/// Lines by the loops of plain.hpp; by FFTW, on a host; on a device by cuFFT, or hipFFT. Local.
namespace kontor::fft {

template <class T>
std::unique_ptr<Lines<T>> make_plain_lines(const LineShape&);

template <class T>
std::unique_ptr<Lines<T>> make_fftw_lines(const LineShape&);
std::string fftw_name();

/// Throws std::runtime_error with cuFFT's number of an error, such as for memory.
template <class T>
std::unique_ptr<Lines<T>> make_cufft_lines(const LineShape&);
std::string cufft_name();

} // namespace kontor::fft
