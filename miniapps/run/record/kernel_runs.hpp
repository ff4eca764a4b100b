// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "run/record/result.hpp"

#include <nlohmann/json.hpp>

#include <span>

namespace kontor::miniapp {

/// A kernel of an app by itself: what it moves and computes by a stated count, all ranks together, and its time.
struct KernelRun {
  std::string name;
  BytesMoved moved = {};
  double flops = 0;
  double seconds = 0;
};

/// Local. Seconds that these kernels need at least, one after the other: each is limited by memory or by arithmetic,
/// whichever takes longer (S. Williams, A. Waterman, D. Patterson, "Roofline", Communications of the ACM 52, 2009).
double seconds_at_best(std::span<const KernelRun>, const Calibration&);

/// Local. "<kernel>_bandwidth" of each.
std::vector<FigureOfMerit> figures_of_kernels(std::span<const KernelRun>, const Calibration&);

/// Local. The table /run/kernels.
nlohmann::ordered_json record_of_kernels(std::span<const KernelRun>);

} // namespace kontor::miniapp
