// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <limits>
#include <optional>
#include <span>

/// The latency-bandwidth model of a message (Hockney 1994): seconds = alpha + beta bytes.
namespace kontor::pingpong {

struct Timed {
  double bytes;
  double seconds; ///< one way; above 0
};

struct Line {
  double alpha = 0; ///< s
  double beta = 0;  ///< s per byte

  double seconds(double bytes) const { return alpha + beta * bytes; }
};

/// The line with the least sum of squared relative errors: weights 1/seconds^2, so that short messages count as much as
/// long ones. Two or more samples of different size.
Line fit_line(std::span<const Timed>);

/// One line, or two where MPI visibly changes its protocol: eager messages, and rendezvous from `switch_bytes`.
struct Hockney {
  Line eager;
  std::optional<Line> rendezvous;
  double switch_bytes = std::numeric_limits<double>::infinity();
};

/// `samples` in the order of their sizes. A break is taken where two lines, of three or more samples each, leave less
/// than half of the error per degree of freedom that one line leaves, and that is above 2 %.
Hockney fit_hockney(std::span<const Timed> samples);

} // namespace kontor::pingpong
