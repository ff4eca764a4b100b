// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "run/options.hpp"
#include "run/record/precision.hpp"
#include "stepping/launch.hpp"
#include "stepping/sum_kind.hpp"
#include "timing/interleave.hpp"

#include <kontor/config/deck.hpp>
#include <kontor/config/visitor.hpp>

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

namespace kontor::kernels {

enum class Measure { gradient, gram_schmidt, fill, reductions, atomics, mdrange, spmv };

/// The section problem of a kernels deck.
struct Options {
  Measure measure = Measure::gradient;
  std::vector<std::int64_t> sizes{64};
  std::int64_t columns = 16; ///< of gram_schmidt
  std::int64_t cells = 20;   ///< of atomics: along an edge of the grid
  miniapp::Precision precision = miniapp::Precision::double_precision;
  stepping::SumKind sums = stepping::SumKind::any_order;
  config::Chosen<stepping::Launch> launch = stepping::Launch::automatic;
  timing::Sampling sampling{.repetitions = 21, .warm_up = 3};

  std::string_view name() const; ///< of the measure
  void describe(config::Visitor&);

  /// Local. Refuses what cannot run, by deck.fail().
  void resolve(const config::Deck&, int ranks, const miniapp::RunOptions& = {});
};

/// Local. Bytes of a rank's Views at the largest size.
double bytes_of_views(const Options&, int ranks);

} // namespace kontor::kernels
