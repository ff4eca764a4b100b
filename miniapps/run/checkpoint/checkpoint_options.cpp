// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "run/checkpoint/checkpoint_options.hpp"

#include <kontor/config/text.hpp>

#include <fmt/format.h>

#include <charconv>
#include <optional>
#include <string_view>

namespace kontor::miniapp {
namespace {

/// Seconds of "SS", "MM:SS" or "HH:MM:SS", with minutes and seconds below 60 after a colon.
std::optional<double> duration(std::string_view text) {
  double sum = 0;
  int parts = 0;
  for (bool more = true; more; ++parts) {
    const auto colon = text.find(':');
    const auto part = text.substr(0, colon);
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), value);
    if (error != std::errc() || end != part.data() + part.size() || value < 0 || value > 100000000) return {};
    if (parts > 0 && (value > 59 || part.size() != 2)) return {};
    sum = 60 * sum + static_cast<double>(value);
    more = colon != std::string_view::npos;
    if (more) text.remove_prefix(colon + 1);
  }
  if (parts > 3 || sum <= 0) return {};
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
  const auto length = duration(walltime);
  if (!length)
    deck.fail("checkpoint.walltime",
              fmt::format("is '{}'; allowed are HH:MM:SS, MM:SS and whole seconds, above 0", config::shown(walltime)),
              "E-DECK-TYPE");
  walltime_seconds = *length;
}

} // namespace kontor::miniapp
