// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "run/checkpoint/checkpoint_options.hpp"

#include <kontor/config/text.hpp>

#include <fmt/format.h>

#include <regex>

namespace kontor::miniapp {
namespace {

/// Seconds of "SS", "MM:SS" or "HH:MM:SS", with minutes and seconds below 60 after a colon; 0: it is none of these.
double duration(const std::string& text) {
  static const std::regex form("([0-9]{1,8})(?::([0-5][0-9]))?(?::([0-5][0-9]))?");
  std::smatch parts;
  double sum = 0;
  if (std::regex_match(text, parts, form))
    for (std::size_t i = 1; i < parts.size() && parts[i].matched; ++i) sum = 60 * sum + std::stod(parts[i]);
  return sum;
}

} // namespace

void CheckpointOptions::describe(config::Visitor& v) {
  v.section("checkpoint", "Checkpoints: what is written when", [&](config::Visitor& c) {
    c.value("every", every, "Steps (sweeps, iterations) between checkpoints; 0: not by steps", {0});
    c.value("seconds", seconds, "Seconds between checkpoints; 0: not by time", {0, 1e9});
    c.value("walltime", walltime,
            "Time limit of the program: HH:MM:SS, MM:SS or seconds. The run writes a checkpoint and ends before "
            "it; empty: no limit");
    c.value("keep", keep, "How many finished checkpoints stay; older ones of the run are removed", {1, 1000});
  });
}

void CheckpointOptions::resolve(const config::Deck& deck) {
  if (walltime.empty()) return;
  walltime_seconds = duration(walltime);
  if (walltime_seconds <= 0)
    deck.fail("checkpoint.walltime",
              fmt::format("is '{}'; allowed are HH:MM:SS, MM:SS and whole seconds, above 0", config::shown(walltime)),
              "E-DECK-TYPE");
}

} // namespace kontor::miniapp
