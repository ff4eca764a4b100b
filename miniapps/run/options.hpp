// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/options.hpp>
#include <kontor/config/deck.hpp>
#include <kontor/config/visitor.hpp>
#include <kontor/output/file.hpp>

#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace kontor::miniapp {

enum class FieldSelection { final, none };

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

/// The sections that every deck has.
struct RunOptions {
  comm::Options comm;
  bool overlap = true;
  std::int64_t repeats = 1;
  bool calibrate = true;
  std::int64_t trace = 0;                  ///< steps
  std::optional<std::int64_t> sample_seed; ///< of the places that are verified; none: another in each run
  std::string output_file;                 ///< empty: the deck's name with the ending .h5, in the working directory
  FieldSelection fields = FieldSelection::final;
  std::int64_t snapshot_every = 0;
  CheckpointOptions checkpoint;

  void describe(config::Visitor&);

  /// For apps that write none: throws config::Error where the deck wants one. `what` is "a product".
  void refuse_series(const config::Deck&, std::string_view what) const;
};

/// The words of decks.
std::vector<config::Named<std::string>> backend_names();
std::span<const config::Named<comm::Pattern>> pattern_names();
std::span<const config::Named<comm::Packing>> packing_names();
std::span<const config::Named<comm::Path>> path_names();

} // namespace kontor::miniapp
