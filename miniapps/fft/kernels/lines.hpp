// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "fft/options.hpp"
#include "fft/problem/pencil.hpp"

#include <memory>
#include <optional>
#include <string>

/// Transforms of lines that lie one after the other in memory: forward with e^(-2 pi i j k / n), backward with its
/// conjugate, neither scaled.
namespace kontor::fft {

enum class Direction { forward, backward };

/// Lines of n values. Complex ones are transformed in place. Forward makes n / 2 + 1 complex coefficients of n real
/// values, backward the reverse, which leaves no meaning in what it reads. A line has the same bits, however many are
/// transformed together.
template <class T>
class Lines {
 public:
  virtual ~Lines() = default;
  /// Local; queued on `instance`. Of complex values `from` is `to`, real and imaginary parts in turns.
  virtual void transform(const Space& instance, T* from, T* to, std::int64_t lines, Direction) = 0;
};

/// What lines consist of.
struct LineShape {
  std::int64_t n = 0;
  bool real = false;
  std::int64_t most_lines = 0; ///< that are transformed together

  std::int64_t values() const { return real ? n : 2 * n; }                   ///< scalars of a line of values
  std::int64_t coefficients() const { return real ? n / 2 * 2 + 2 : 2 * n; } ///< and of coefficients
};

/// Local. The library that `auto` stands for here.
Library usual_library();
/// Local. Why this build has it not; none: it has.
std::optional<std::string> refusal_of(Library);
/// Local. "cuFFT 12.0.0", for the record.
std::string name_of(Library);
/// Local. The library is one that is here.
template <class T>
std::unique_ptr<Lines<T>> make_lines(Library, const LineShape&);

} // namespace kontor::fft
