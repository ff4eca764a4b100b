// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "fft/options.hpp"
#include "fft/problem/pencil.hpp"
#include "run/record/result.hpp"

#include <kontor/comm/communicator.hpp>

#include <complex>
#include <vector>

/// The start, its coefficients and the solution, a second time: from the deck's words, by sums over single axes.
namespace kontor::fft {

/// Factors along x, y, z; what they describe is the product of three, or a sum of such products.
class Exact {
 public:
  explicit Exact(const Options&);

  ///@{
  /// Collective. All values of a rank's field, or coefficients, against the exact ones; the 2-norm of the difference
  /// relative to that of the exact ones. `made`: steps.
  template <class T>
  miniapp::Verification start(const comm::Communicator&, const Pencil&, const T* values) const;
  template <class T>
  miniapp::Verification spectrum(const comm::Communicator&, const Pencil&, const Complex<T>* values) const;
  template <class T>
  miniapp::Verification solution(const comm::Communicator&, const Pencil&, const T* values, std::int64_t made) const;
  ///@}

 private:
  using Numbers = std::vector<std::complex<double>>;
  using Products = std::vector<std::array<Numbers, 3>>;

  /// How far a transform may be off, relative in the 2-norm.
  double rounding() const;
  Products field(double time) const;

  Options options_;
  std::array<Numbers, 3> coefficients_; ///< of the random numbers along the axes
};

} // namespace kontor::fft
