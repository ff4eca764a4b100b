// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "graph/options.hpp"

#include "grid/sizing.hpp"

#include <kontor/config/unused.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>

namespace kontor::graph {
namespace {

using config::Named;

constexpr std::array<Named<Algorithm>, 3> algorithms{
    {{"search", Algorithm::search}, {"particles", Algorithm::particles}, {"sort", Algorithm::sort}}};
constexpr std::array<Named<Kind>, 4> kinds{
    {{"uniform", Kind::uniform}, {"geometric", Kind::geometric}, {"kronecker", Kind::kronecker}, {"file", Kind::file}}};
constexpr std::array<Named<Direction>, 2> directions{
    {{"top_down", Direction::top_down}, {"optimising", Direction::optimising}}};
constexpr std::array<Named<Method>, 6> methods{{{"counted", Method::counted},
                                                {"neighborhood", Method::neighborhood},
                                                {"sparse", Method::sparse},
                                                {"grid", Method::grid},
                                                {"pairs", Method::pairs},
                                                {"auto", Method::automatic}}};

constexpr std::int64_t most = std::int64_t{1} << 40; ///< vertices, particles or keys

std::int64_t power_of_two(std::int64_t n) {
  return static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(n)));
}

} // namespace

std::string_view name_of(Kind kind) { return kinds[static_cast<std::size_t>(kind)].name; }
std::string_view name_of(Method method) { return methods[static_cast<std::size_t>(method)].name; }

void Options::describe(config::Visitor& v) {
  v.section("problem", "What is searched, moved or sorted", [&](config::Visitor& p) {
    p.choice<Kind>("graph", graph, kinds, "uniform: random ends; geometric: near in a square; kronecker: Graph500's");
    p.value("vertices", vertices, "Of the graph; kronecker: a power of two", {1, most});
    p.value("degree", degree, "Edges are half of it times the vertices; doubles and loops count", {0, 1 << 20});
    p.value("file", file, "graph file: a Matrix Market file of a square pattern, whose entries are edges");
    p.value("particles", particles, "algorithm particles: on the torus", {1, most});
    p.value("speed", speed, "algorithm particles: the most along an axis in a step, of the torus", {0, 0.25});
    p.value("keys", keys, "algorithm sort: of 64 bits", {1, most});
    sizing.describe(p, "vertices, particles or keys");
    p.value("seed", seed, "Of all that is random", {.min = 0});
  });
  v.section("solver", "What is done", [&](config::Visitor& s) {
    s.choice<Algorithm>("algorithm", algorithm, algorithms,
                        "search: breadth-first; particles: they move and change their owner; sort: by samples");
    s.value("roots", roots, "search: from so many vertices, one after the other", {1, 4096});
    s.choice<Direction>("direction", direction, directions,
                        "search: of levels; optimising: also from below, where the frontier is large");
    s.value("steps", steps, "particles: of a repeat", {.min = 1, .max = std::int64_t{1} << 31});
  });
  v.section("traffic", "How what belongs to other ranks reaches them", [&](config::Visitor& t) {
    t.choice<Method>("method", method, methods, "See docs/apps/graph.md; auto: the fastest by trial");
    t.value("unique", unique, "search: whether a rank sends a vertex once in a search");
  });
}

/// Building takes each edge twice as an arc of 16 bytes and as a target of 8; then there are trees, and buckets that
/// hold a level.
double Options::bytes_of_rank(int ranks) const {
  const auto of_rank = [&](std::int64_t n) { return static_cast<double>((n + ranks - 1) / ranks); };
  switch (algorithm) {
  case Algorithm::search: {
    const double arcs = 2 * of_rank(edges()), own = of_rank(vertices);
    const double bits = static_cast<double>(vertices) / 8 * 2;
    return arcs * 8 + own * 16 + bits + std::max(arcs * 24, own * 12 * static_cast<double>(roots) + arcs * 32);
  }
  case Algorithm::particles: return of_rank(particles) * 24 * 4;
  case Algorithm::sort: return of_rank(keys) * 8 * 6;
  }
  return 0;
}

void Options::resolve_sizes(const config::Deck& deck, int ranks, const grid::FreeMemory& free_memory) {
  if (!sizing.wanted()) return;
  const bool kronecker = algorithm == Algorithm::search && graph == Kind::kronecker;
  auto& size = algorithm == Algorithm::search ? vertices : algorithm == Algorithm::sort ? keys : particles;
  const auto key = algorithm == Algorithm::search ? "problem.vertices"
                   : algorithm == Algorithm::sort ? "problem.keys"
                                                  : "problem.particles";
  size = grid::resolve_sizes(sizing, {size},
                             {{key},
                              most,
                              [&](const grid::Sizes& n) { return grid::Sizes{n[0] * ranks}; },
                              [&](const grid::Sizes& n) {
                                auto sized = *this;
                                (algorithm == Algorithm::search ? sized.vertices
                                 : algorithm == Algorithm::sort ? sized.keys
                                                                : sized.particles) = n[0];
                                return sized.bytes_of_rank(ranks);
                              }},
                             deck, free_memory)[0];
  if (kronecker) size = power_of_two(size);
}

void Options::resolve(const config::Deck& deck, int /*ranks*/, const miniapp::RunOptions& run) {
  run.refuse_series(deck, "traffic");
  const config::UnusedKeys unused(deck, *this);
  const bool search = algorithm == Algorithm::search, made = search && graph != Kind::file;
  for (const auto* key : {"problem.graph", "solver.roots", "solver.direction", "traffic.unique"})
    unused.refuse_unless(search, key, "solver.algorithm must be search");
  for (const auto* key : {"problem.vertices", "problem.degree"})
    unused.refuse_unless(made, key, "solver.algorithm must be search, and problem.graph no file");
  unused.refuse_unless(search && !made, "problem.file", "problem.graph must be file");
  for (const auto* key : {"problem.particles", "problem.speed", "solver.steps"})
    unused.refuse_unless(algorithm == Algorithm::particles, key, "solver.algorithm must be particles");
  unused.refuse_unless(algorithm == Algorithm::sort, "problem.keys", "solver.algorithm must be sort");
  if (search && !made && file.path.empty()) deck.fail("problem.graph", "is file; give its name by problem.file");
  if (made && graph == Kind::kronecker && power_of_two(vertices) != vertices)
    deck.fail("problem.vertices",
              fmt::format("is {}; a Kronecker graph has a power of two, such as {}", vertices, power_of_two(vertices)),
              "E-DECK-RANGE");
  if (algorithm == Algorithm::sort && method == Method::neighborhood)
    method.location.fail("is neighborhood, but in a sort all ranks are neighbours; use another method",
                         "E-DECK-CONFLICT");
}

} // namespace kontor::graph
