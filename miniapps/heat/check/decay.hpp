// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "heat/options.hpp"

namespace kontor::heat {

/// How much of an error is left after a time, at most: the largest value of what begins as 1 in every cell, is held at
/// 0 by Dirichlet faces and loses nothing through the others. It bounds the max norm of the operator that takes an
/// error from one time to a later one (docs/apps/heat.md, "Error bound").
class Decay {
 public:
  /// Options are resolved.
  explicit Decay(const Options&);

  /// At a time, which may be infinite. Without a Dirichlet face it is always 1.
  double operator()(double time) const;

  /// Its integral from 0 to a time; what an error of 1 that is made anew all the time adds up to.
  double integral(double time) const;

 private:
  std::vector<double> rates_; ///< 1/time, descending: of each axis with a Dirichlet face, the slowest wave's
};

} // namespace kontor::heat
