// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/config/deck.hpp>
#include <kontor/config/visitor.hpp>

#include <cstdint>
#include <string>

namespace kontor::miniapp {

/// The section `checkpoint` of a deck.
struct CheckpointOptions {
  std::int64_t every = 0; ///< steps between checkpoints; 0: not by steps
  double seconds = 0;     ///< between checkpoints; 0: not by time
  std::string walltime;   ///< empty: no limit
  std::int64_t keep = 2;  ///< finished checkpoints that stay

  double walltime_seconds = 0; ///< of `walltime`; 0: no limit. Set by resolve()
  std::string file;            ///< checkpoints_of() the output; set by the run

  void describe(config::Visitor&);
  /// Throws config::Error if walltime is no duration.
  void resolve(const config::Deck&);

  /// Whether any key asks for checkpoints.
  bool wanted() const { return every > 0 || seconds > 0 || !walltime.empty(); }
};

} // namespace kontor::miniapp
