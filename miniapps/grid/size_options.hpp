// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/config/visitor.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

/// Sizes of a problem that depend on the ranks of a run or on their memory: problem.local and problem.memory_share.
/// They become plain sizes right after a deck is read, so that records, checkpoints and --print-deck have the sizes of
/// the run.
namespace kontor::grid {

/// The most cells or points along an axis.
inline constexpr std::int64_t most_along_axis = std::int64_t{1} << 40;

using Sizes = std::vector<std::int64_t>;

/// Collective. The bytes that each rank may take, the same number on all; infinite where the system does not say.
using FreeMemory = std::function<double()>;

/// The keys. Both together: the deck gives the proportions of a rank's part, and the part is as large as the share
/// allows.
struct SizeOptions {
  bool local = false;                 ///< the deck's sizes are those of one rank
  std::optional<double> memory_share; ///< of free memory, which the Views of all ranks fill; none: as given

  bool wanted() const { return local || memory_share; }
  /// `sizes` names the keys of the sizes: "cells".
  void describe(config::Visitor&, std::string_view sizes);
};

} // namespace kontor::grid
