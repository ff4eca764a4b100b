// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "advection/options.hpp"

#include "grid/field.hpp"

#include <kontor/config/unused.hpp>

#include <fmt/format.h>

#include <array>
#include <string_view>

namespace kontor::advection {
namespace {

constexpr std::array<config::Named<Kernel>, 1> kernels{{{"plain", Kernel::plain}}};

} // namespace

void Options::describe(config::Visitor& v) {
  static constexpr std::string_view space[] = {"x"};
  v.section("problem", "What is solved: u_t + speed u_x = 0 on a periodic interval", [&](config::Visitor& s) {
    s.value("cells", cells, "Cells of the interval", {.min = 1, .max = std::int64_t{1} << 40});
    sizing.describe(s, "cells");
    s.value("interval", interval, "Its two ends", {}, {2, 2});
    s.value("speed", speed, "Of the wave; below 0 it goes to the left");
    s.value("courant", courant, "Cells that the wave goes in a step; 1: exactly from one to the next",
            {.min = 0, .max = 1, .exclusive_min = true});
    s.value("initial", initial, space, "Values at the start");
  });
  v.section("solver", "How it is solved", [&](config::Visitor& s) {
    s.value("steps", steps, "Steps of a repeat", {.min = 1});
    s.choice<Kernel>("kernel", kernel, kernels, "The kernel of a step: the textbook's loop is the only one");
    s.value("steps_per_pass", steps_per_pass, "Steps for one exchange of as many ghosts", {.min = 1, .max = 64});
    s.choice<stepping::Launch>("launch", launch, stepping::launch_names,
                               "On a GPU, each step by its own launch, many by one (graph), or by trial");
  });
  v.section("probes", "Cells that ranks ask each other for", [&](config::Visitor& s) {
    s.value("count", probes, "Cells that each rank asks for, anywhere", {.min = 0, .max = 1000000});
    s.value("every", probe_every, "Steps from one gathering to the next", {.min = 1});
    s.value("seed", seed, "Of the random numbers that choose them", {.min = 0});
  });
}

void Options::resolve_sizes(const config::Deck& deck, int ranks, const grid::FreeMemory& free_memory) {
  grid::Sizes extents{cells}, ring{ranks};
  const auto bytes = [&](const grid::Sizes& whole, const grid::Sizes& process_grid) {
    return miniapp::total_bytes(
        views_of_rank(*this, grid::largest_block({.extents = whole, .lower = {}, .spacing = {}}, process_grid,
                                                 static_cast<int>(steps_per_pass))));
  };
  grid::resolve_box_sizes(sizing, {"problem.cells", "cell", extents, ring, 0, bytes}, ranks, deck, free_memory);
  cells = extents[0];
}

void Options::resolve(const config::Deck& deck, int ranks, const miniapp::RunOptions& /*run*/) {
  const config::UnusedKeys unused(deck, *this);
  for (const auto* key : {"probes.every", "probes.seed"})
    unused.refuse_unless(probes > 0, key, "probes.count must be above 0");
  if (cells < ranks)
    deck.fail("problem.cells", "must be at least the number of ranks, " + std::to_string(ranks), "E-DECK-RANKS");
  if (cells / ranks < steps_per_pass)
    deck.fail("solver.steps_per_pass",
              fmt::format("is {}, but a rank has {} cells; choose at most that", steps_per_pass, cells / ranks));
  if (!(interval[0] < interval[1])) deck.fail("problem.interval", "must have its lower end first", "E-DECK-RANGE");
  if (speed == 0) deck.fail("problem.speed", "must not be 0: nothing would move", "E-DECK-RANGE");
}

std::vector<miniapp::Allocation> views_of_rank(const Options& options, const grid::Block& block) {
  const auto extents = grid::field_extents<double>(block);
  const double field = static_cast<double>(extents[2]) * sizeof(double);
  const double samples = static_cast<double>(options.samples()) * static_cast<double>(options.probes) * sizeof(double);
  return {{"advection/u", field}, {"advection/v", field}, {"advection/samples", samples}};
}

} // namespace kontor::advection
