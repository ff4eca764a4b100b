// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "run/checkpoint/checkpoint_options.hpp"

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
  std::string restart; ///< a checkpoint to go on from, or the name of several; empty: from the beginning

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
