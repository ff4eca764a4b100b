// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "fft/options.hpp"

#include "fft/kernels/lines.hpp"
#include "fft/problem/pencil.hpp"
#include "grid/sizing.hpp"

#include <kontor/config/unused.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

namespace kontor::fft {
namespace {

using config::Named;

constexpr std::array<Named<Equation>, 3> equations{
    {{"round_trip", Equation::round_trip}, {"poisson", Equation::poisson}, {"heat", Equation::heat}}};
constexpr std::array<Named<Values>, 2> value_names{{{"complex", Values::complex}, {"real", Values::real}}};
constexpr std::array<Named<Library>, 5> libraries{{{"auto", Library::automatic},
                                                   {"fftw", Library::fftw},
                                                   {"cufft", Library::cufft},
                                                   {"hipfft", Library::hipfft},
                                                   {"plain", Library::plain}}};
constexpr std::array<Named<Reorder>, 4> reorders{{{"in_transfer", Reorder::in_transfer},
                                                  {"by_kernel", Reorder::by_kernel},
                                                  {"by_reading", Reorder::by_reading},
                                                  {"auto", Reorder::automatic}}};

constexpr std::int64_t most_along_axis = 32768; ///< the check's sums over an axis take its square
constexpr std::string_view grid_key = "decomposition.process_grid";

/// Whether each rank has a line in each of the three stages.
bool has_lines(const Options& o, std::int64_t p1, std::int64_t p2) {
  return p1 <= std::min(o.cells[1], o.modes_x()) && p2 <= std::min(o.cells[2], o.cells[1]);
}

/// Slabs, which need one transpose through other ranks; else the grid nearest to a square. Empty: there is none.
std::vector<std::int64_t> usual_grid(const Options& o, std::int64_t ranks) {
  std::vector<std::int64_t> best;
  for (std::int64_t p1 = 1; p1 * p1 <= ranks; ++p1) {
    if (ranks % p1 != 0) continue;
    for (const auto& [a, b] : {std::pair(p1, ranks / p1), std::pair(ranks / p1, p1)})
      if (has_lines(o, a, b) && (best.empty() || std::min(best[0], best[1]) > 1)) best = {a, b};
  }
  return best;
}

std::string most_ranks(const Options& o) {
  return fmt::format("at most {} along y and {} along z", std::min(o.cells[1], o.modes_x()),
                     std::min(o.cells[1], o.cells[2]));
}

void resolve_grid(Options& o, const config::Deck& deck, int ranks) {
  auto& grid = o.process_grid;
  if (grid.empty()) {
    grid = usual_grid(o, ranks);
    if (grid.empty())
      deck.fail("problem.cells",
                fmt::format("[{}] give no process grid of {} ranks, {}: each rank needs a line of each axis; use fewer "
                            "ranks or more cells",
                            fmt::join(o.cells, ", "), ranks, most_ranks(o)),
                "E-DECK-RANKS");
    return;
  }
  if (grid.size() != 2) deck.fail(grid_key, "has length 1; it must have ranks along y and z, or none", "E-DECK-RANGE");
  if (ranks % grid[0] != 0 || ranks / grid[0] != grid[1])
    deck.fail(grid_key, fmt::format("[{}] is not for {} ranks", fmt::join(grid, ", "), ranks), "E-DECK-RANKS");
  if (!has_lines(o, grid[0], grid[1]))
    deck.fail(grid_key,
              fmt::format("[{}] leaves ranks without a line; [{}] cells allow {}", fmt::join(grid, ", "),
                          fmt::join(o.cells, ", "), most_ranks(o)),
              "E-DECK-RANKS");
}

} // namespace

void Options::describe(config::Visitor& v) {
  v.section("problem", "What is transformed: a field of the periodic cube from 0 to 2 pi", [&](config::Visitor& p) {
    p.choice<Equation>("equation", equation, equations,
                       "What a step does between the two transforms; round_trip: the field moves by a cell along x");
    p.value("cells", cells, "Values along x, y, z", {.min = 1, .max = most_along_axis}, {3, 3});
    sizing.describe(p, "cells");
    p.choice<Values>("values", values, value_names, "Of the field");
    p.choice<miniapp::Precision>("precision", precision, miniapp::precision_names, "Scalar type");
    p.value("diffusion", diffusion, "heat: a mode of wave numbers k decays by exp(-diffusion k^2) a step",
            {0, 1, true});
    p.value("seed", seed, "Of the random start", {.min = 0});
  });
  v.section("solver", "How it is solved", [&](config::Visitor& s) {
    s.value("steps", steps, "Steps of a repeat: transforms forward and back", {.min = 1});
    s.choice<Library>("library", library, libraries, "Transforms of lines; plain: the loops of a textbook");
    s.choice<stepping::Launch>("launch", launch, stepping::launch_names,
                               "On a GPU, each step by its own launches, many by one (graph), or by trial");
  });
  v.section("transpose", "How lines of the next axis come together", [&](config::Visitor& t) {
    t.choice<Reorder>(
        "reorder", reorder, reorders,
        "What makes them contiguous: the transfer, a kernel after it, or one that reads other ranks' memory");
    t.value("chunks", chunks, "Parts of a transpose, which travel while others are transformed", {1, 1024});
  });
  v.section("decomposition", "How the cells are divided among the ranks", [&](config::Visitor& d) {
    d.value("process_grid", process_grid, "Ranks along y and z of the field; empty: slabs, or nearly a square",
            {1, std::int64_t{1} << 30}, {0, 2});
  });
}

double Options::bytes_of_rank(const std::vector<std::int64_t>& grid) const {
  const double scalar = precision == miniapp::Precision::single_precision ? sizeof(float) : sizeof(double);
  double spectrum = 0;
  const auto pencils = make_pencils({modes_x(), cells[1], cells[2]}, {grid[0], grid[1]}, {0, 0});
  for (const auto& pencil : pencils) spectrum = std::max(spectrum, 2 * scalar * static_cast<double>(pencil.size()));
  const double cells_of_rank = static_cast<double>(pencils[0].size() / modes_x() * cells[0]);
  const double field = real() ? scalar * cells_of_rank : 0;
  const double source = equation == Equation::poisson ? (real() ? 1 : 2) * scalar * cells_of_rank : 0;
  const double others = 2 + (reorder == Reorder::by_kernel ? 1 : 0) +
                        ((library == Library::automatic ? usual_library() : library.value) == Library::plain ? 6 : 0);
  return others * spectrum + field + source;
}

std::string_view name_of(Reorder reorder) { return std::ranges::find(reorders, reorder, &Named<Reorder>::value)->name; }

std::vector<Options> Options::transposes(bool reading) const {
  std::vector<Options> result;
  for (const auto r : {Reorder::in_transfer, Reorder::by_kernel, Reorder::by_reading})
    for (const std::int64_t count : {1, 4, 16}) {
      if (reorder != Reorder::automatic && r != reorder) continue;
      if (count > 1 && (chunks || r == Reorder::by_reading)) continue;
      if (reorder == Reorder::automatic && r == Reorder::by_reading && !reading) continue;
      result.push_back(*this);
      result.back().reorder = r;
      if (!chunks) result.back().chunks = count;
    }
  return result;
}

void Options::resolve_sizes(const config::Deck& deck, int ranks, const grid::FreeMemory& free_memory) {
  if (!sizing.wanted()) return;
  auto of_all = *this;
  for (auto& n : of_all.cells) n = std::min(most_along_axis, n * ranks); // so that any grid can divide it
  resolve_grid(of_all, deck, ranks);
  const auto grid = of_all.process_grid;
  const bool local = sizing.local;
  cells = grid::resolve_sizes(sizing, cells,
                              {{"problem.cells"},
                               most_along_axis,
                               [&](const grid::Sizes& n) {
                                 return grid::Sizes{n[0], n[1] * grid[0], n[2] * grid[1]};
                               },
                               [&](const grid::Sizes& n) {
                                 auto sized = *this;
                                 sized.cells = n;
                                 return sized.bytes_of_rank(grid);
                               }},
                              deck, free_memory);
  if (local && process_grid.empty()) process_grid = grid;
}

void Options::resolve(const config::Deck& deck, int ranks, const miniapp::RunOptions& /*run*/) {
  const config::UnusedKeys unused(deck, *this);
  unused.refuse_unless(equation == Equation::heat, "problem.diffusion", "problem.equation must be heat");
  if (const auto refusal = refusal_of(library)) deck.fail("solver.library", *refusal);
  if (equation != Equation::round_trip && cells[0] == 1)
    deck.fail("problem.cells", "has one value along x, where the solution has a mean of 0; choose at least 2",
              "E-DECK-RANGE");
  if (reorder == Reorder::by_reading && chunks.value_or(1) > 1)
    deck.fail("transpose.chunks", "is for messages, and transpose.reorder: by_reading sends none; choose 1",
              "E-DECK-CONFLICT");
  resolve_grid(*this, deck, ranks);
}

} // namespace kontor::fft
