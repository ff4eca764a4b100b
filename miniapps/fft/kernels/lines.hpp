// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "fft/options.hpp"
#include "fft/problem/pencil.hpp"

#include <memory>
#include <optional>
#include <string>

/// Transforms of lines that lie one after the other in memory: forward with e^(-2 pi i j k / n), backward with its
/// conjugate, neither scaled. A line has the same bits, however many are transformed together.
namespace kontor::fft {

enum class Direction { forward, backward };

/// Lines of n complex values, in place.
template <class T>
class ComplexLines {
 public:
  virtual ~ComplexLines() = default;
  /// Local; queued on `instance`.
  virtual void transform(const Space& instance, Complex<T>* data, std::int64_t lines, Direction) = 0;
};

/// Lines of n real values, and of n / 2 + 1 complex ones.
template <class T>
class RealLines {
 public:
  virtual ~RealLines() = default;
  ///@{
  /// Local; queued on `instance`. backward() leaves no meaning in what it reads.
  virtual void forward(const Space& instance, const T* from, Complex<T>* to, std::int64_t lines) = 0;
  virtual void backward(const Space& instance, Complex<T>* from, T* to, std::int64_t lines) = 0;
  ///@}
};

/// Local. The library that `auto` stands for here.
Library usual_library();
/// Local. Why this build has it not; none: it has.
std::optional<std::string> refusal_of(Library);
/// "FFTW 3.3.10", for the record.
std::string name_of(Library);

/// Local. Plans for up to so many lines of n values; the library is one that is here.
template <class T>
std::unique_ptr<ComplexLines<T>> make_complex_lines(Library, std::int64_t n, std::int64_t most_lines);
template <class T>
std::unique_ptr<RealLines<T>> make_real_lines(Library, std::int64_t n, std::int64_t most_lines);

} // namespace kontor::fft
