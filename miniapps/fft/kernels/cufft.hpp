// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "fft/kernels/lines.hpp"

/// Lines by cuFFT, on a device of NVIDIA's.
namespace kontor::fft {

/// Local. "cuFFT 12.0.0".
std::string cufft_name();

///@{
/// Local. Throws std::runtime_error with cuFFT's number of an error, such as for memory.
template <class T>
std::unique_ptr<ComplexLines<T>> make_cufft_complex_lines(std::int64_t n);
template <class T>
std::unique_ptr<RealLines<T>> make_cufft_real_lines(std::int64_t n);
///@}

} // namespace kontor::fft
