// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "graph/problem/random_edges.hpp"

#include "random/counter_random.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>

namespace kontor::graph {
namespace {

constexpr int bits_of_cell = 20;           ///< of a position in its cell
constexpr std::int64_t most_cells = 32768; ///< along an edge of the square: products of part_begin() fit 64 bits
enum Stream : std::uint64_t { ends, quadrants, positions, streams }; ///< of random numbers

std::uint64_t stream_of(std::uint64_t seed, Stream stream) { return seed * streams + stream; }

/// Uniform in [0, n) for n up to 2^40: of the upper bits.
std::int64_t below(std::int64_t n, std::uint64_t bits) {
  const auto high = bits >> 32, low = bits & 0xffffffffu, m = static_cast<std::uint64_t>(n);
  const auto m_high = m >> 32, m_low = m & 0xffffffffu; // (bits * m) >> 64 by halves
  const auto middle = high * m_low + ((low * m_low) >> 32);
  const auto other = low * m_high + (middle & 0xffffffffu);
  return static_cast<std::int64_t>(high * m_high + (middle >> 32) + (other >> 32));
}

/// One to one among the numbers below 2^levels.
std::int64_t renumbered(std::uint64_t vertex, std::uint64_t seed, int levels) {
  const auto mask = (std::uint64_t{1} << levels) - 1;
  for (int round = 0; round < 2; ++round) {
    const auto bits = random::bits_at(stream_of(seed, quadrants), -1, round);
    vertex = (vertex * (bits | 1) + (bits >> 20)) & mask;
    vertex ^= vertex >> (levels / 2 + 1);
  }
  return static_cast<std::int64_t>(vertex);
}

} // namespace

Edge uniform_edge(std::uint64_t seed, std::int64_t vertices, std::int64_t number) {
  const auto end = [&](int i) { return below(vertices, random::bits_at(stream_of(seed, ends), number, i)); };
  return {end(0), end(1)};
}

Edge kronecker_edge(std::uint64_t seed, std::int64_t vertices, std::int64_t number) {
  constexpr double a = 0.57, b = 0.19, c = 0.19, all = 4294967296.0;
  const int levels = std::countr_zero(static_cast<std::uint64_t>(vertices));
  std::uint64_t from = 0, to = 0;
  for (int level = 0; level < levels; ++level) {
    const auto bits = static_cast<double>(random::bits_at(stream_of(seed, quadrants), number, level) >> 32);
    const bool lower = bits >= (a + b) * all;
    from = 2 * from + (lower ? 1 : 0);
    to = 2 * to + (lower ? bits >= (a + b + c) * all : bits >= a * all);
  }
  return {renumbered(from, seed, levels), renumbered(to, seed, levels)};
}

Square::Square(std::uint64_t seed, std::int64_t vertices, double degree) : seed_(seed), vertices_(vertices) {
  const double radius = std::sqrt(degree / (std::numbers::pi * static_cast<double>(vertices)));
  const double cells = radius > 0 ? std::min(1 / radius, static_cast<double>(vertices)) : static_cast<double>(vertices);
  side_ = std::clamp(static_cast<std::int64_t>(cells), std::int64_t{1}, most_cells);
  const double units = std::min(radius * static_cast<double>(side_), 1.0) * (1 << bits_of_cell);
  square_radius_ = static_cast<std::int64_t>(units) * static_cast<std::int64_t>(units);
}

std::int64_t Square::cell_of(std::int64_t vertex) const {
  const auto cells = side_ * side_;
  auto cell = static_cast<std::int64_t>(static_cast<double>(vertex) / static_cast<double>(vertices_) *
                                        static_cast<double>(cells)); // but for rounding
  while (cell > 0 && grid::part_begin(vertices_, cells, cell) > vertex) --cell;
  while (grid::part_begin(vertices_, cells, cell + 1) <= vertex) ++cell;
  return cell;
}

std::pair<std::int64_t, std::int64_t> Square::position(std::int64_t vertex, std::int64_t cell) const {
  const auto along = [&](std::int64_t number, int axis) {
    const auto bits = random::bits_at(stream_of(seed_, positions), vertex, axis) >> (64 - bits_of_cell);
    return (number << bits_of_cell) + static_cast<std::int64_t>(bits);
  };
  return {along(cell % side_, 0), along(cell / side_, 1)};
}

void Square::add_edges(std::int64_t vertex, std::vector<Edge>& edges) const {
  const auto cells = side_ * side_, cell = cell_of(vertex);
  const auto [x, y] = position(vertex, cell);
  for (const auto& [right, up] :
       {std::pair(0, 0), std::pair(1, 0), std::pair(-1, 1), std::pair(0, 1), std::pair(1, 1)}) {
    const auto column = cell % side_ + right, row = cell / side_ + up;
    if (column < 0 || column >= side_ || row >= side_) continue;
    const auto other = row * side_ + column;
    const auto end = grid::part_begin(vertices_, cells, other + 1);
    for (auto w = std::max(vertex + 1, grid::part_begin(vertices_, cells, other)); w < end; ++w) {
      const auto [wx, wy] = position(w, other);
      if ((x - wx) * (x - wx) + (y - wy) * (y - wy) <= square_radius_) edges.push_back({vertex, w});
    }
  }
}

} // namespace kontor::graph
