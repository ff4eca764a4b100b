// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "grid/sizing.hpp"

#include "grid/process_grid.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

namespace kontor::grid {
namespace {

constexpr std::string_view share_key = "problem.memory_share";

/// In the proportions given, but at least 1.
Sizes scaled(const Sizes& given, double factor) {
  auto sizes = given;
  for (auto& n : sizes)
    n = std::max<std::int64_t>(1, static_cast<std::int64_t>(std::floor(static_cast<double>(n) * factor)));
  return sizes;
}

/// The largest factor for which fits(factor), from `least` on, which does fit, to `most`.
template <class Fits>
double largest_factor(double least, double most, const Fits& fits) {
  if (fits(most)) return most;
  while (true) {
    const double middle = least + (most - least) / 2;
    if (middle <= least || middle >= most) return least;
    (fits(middle) ? least : most) = middle;
  }
}

/// Collective. The factor by which sizes fill the share of memory.
double filling_factor(const SizeOptions& o, const Sizes& given, const SizedProblem& problem,
                      const std::function<Sizes(double)>& whole, const config::Deck& deck,
                      const FreeMemory& free_memory) {
  const double free = free_memory();
  if (!std::isfinite(free))
    deck.fail(share_key,
              fmt::format("is {}, but the system does not say how much memory is free; leave it "
                          "out, and give {} as they are to be",
                          *o.memory_share, fmt::join(problem.keys, ", ")),
              "E-MEMORY");
  const double share = *o.memory_share * free;
  const auto fits = [&](double factor) {
    const auto sizes = whole(factor);
    return std::ranges::max(sizes) <= problem.most && problem.bytes(sizes) <= share;
  };
  const auto largest = static_cast<double>(std::ranges::max(given));
  const double least = 1 / largest;
  if (!fits(least))
    deck.fail(share_key,
              fmt::format("is {}, which is {:.4g} bytes for each rank; the smallest problem takes "
                          "{:.4g} bytes. Give a larger share, or run on fewer ranks",
                          *o.memory_share, share, problem.bytes(whole(least))),
              "E-MEMORY");
  return largest_factor(least, static_cast<double>(problem.most) / largest, fits);
}

} // namespace

void SizeOptions::describe(config::Visitor& v, std::string_view sizes) {
  v.value("local", local, fmt::format("Whether {} are those of one rank (weak scaling)", sizes));
  v.value("memory_share", memory_share,
          fmt::format("Scale {}, in their proportions, to fill this share of the free memory; auto: off", sizes),
          {0, 1, true});
}

Sizes resolve_sizes(SizeOptions& o, const Sizes& given, const SizedProblem& problem, const config::Deck& deck,
                    const FreeMemory& free_memory) {
  const std::function<Sizes(double)> whole = [&](double factor) {
    const auto sizes = scaled(given, factor);
    return o.local ? problem.of_all(sizes) : sizes;
  };
  const auto sizes = whole(o.memory_share ? filling_factor(o, given, problem, whole, deck, free_memory) : 1);
  for (std::size_t i = 0; i < sizes.size(); ++i)
    if (sizes[i] > problem.most)
      deck.fail(problem.keys[std::min(i, problem.keys.size() - 1)],
                fmt::format("is the size of one rank, by problem.local, and makes {} of all; at most {} are "
                            "possible. Give fewer, or run on fewer ranks",
                            sizes[i], problem.most),
                "E-DECK-RANGE");
  o = {};
  return sizes;
}

void resolve_box_sizes(SizeOptions& o, const SizedBox& box, int ranks, const config::Deck& deck,
                       const FreeMemory& free_memory) {
  if (!o.wanted()) return;
  auto shape = box.extents;
  for (auto& n : shape) n *= ranks; // so that any process grid can divide it
  auto process_grid = box.process_grid;
  resolve_process_grid(process_grid, "decomposition.process_grid", {box.key, box.unit, shape}, ranks, deck);
  const auto of_all = [&](Sizes sizes) {
    std::ranges::transform(sizes, process_grid, sizes.begin(), std::multiplies<>());
    return sizes;
  };
  const auto bytes = [&](const Sizes& extents) { return box.bytes(extents, process_grid); };
  const bool local = o.local;
  box.extents = resolve_sizes(o, box.extents, {{box.key}, most_along_axis, of_all, bytes}, deck, free_memory);
  if (!local || !box.process_grid.empty()) return;
  auto divided = box.extents;
  for (auto& n : divided) n += box.beyond;
  if (!std::ranges::equal(smallest_surface_grid(ranks, divided), process_grid)) box.process_grid = process_grid;
}

} // namespace kontor::grid
