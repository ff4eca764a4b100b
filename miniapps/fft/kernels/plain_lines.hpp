// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "fft/kernels/lines.hpp"

namespace kontor::fft {

///@{
/// Local. Lines by plain.hpp, with memory for as many other lines.
template <class T>
std::unique_ptr<ComplexLines<T>> make_plain_complex_lines(std::int64_t n, std::int64_t most_lines);
template <class T>
std::unique_ptr<RealLines<T>> make_plain_real_lines(std::int64_t n, std::int64_t most_lines);
///@}

} // namespace kontor::fft
