// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "graph/options.hpp"
#include "random/counter_random.hpp"

#include <cstdint>
#include <vector>

namespace kontor::graph {

/// A particle on a torus of 2^32 places along each axis: sums of 32-bit numbers go around it, without any rounding.
struct Particle {
  std::uint32_t x, y;
  std::int32_t vx, vy; ///< places a step
  std::int64_t identity;
};

/// Where a particle is at the start, and how fast, by its identity.
inline Particle particle_of(const Options& o, std::int64_t identity) {
  const auto bits = random::bits_at(static_cast<std::uint64_t>(o.seed), identity, 0);
  const auto speeds = random::bits_at(static_cast<std::uint64_t>(o.seed), identity, 1);
  const auto most = static_cast<std::int64_t>(o.speed * 4294967296.0);
  const auto velocity = [&](std::uint64_t upper) {
    return static_cast<std::int32_t>(
        static_cast<std::int64_t>((upper * (2 * static_cast<std::uint64_t>(most) + 1)) >> 32) - most);
  };
  return {static_cast<std::uint32_t>(bits >> 32), static_cast<std::uint32_t>(bits), velocity(speeds >> 32),
          velocity(speeds & 0xffffffffu), identity};
}

/// The torus in blocks, one a rank, row by row.
struct Torus {
  std::int64_t columns, rows;

  int owner(std::uint32_t x, std::uint32_t y) const {
    const auto along = [](std::uint32_t place, std::int64_t parts) {
      return static_cast<std::int64_t>((std::uint64_t{place} * static_cast<std::uint64_t>(parts)) >> 32);
    };
    return static_cast<int>(along(x, columns) * rows + along(y, rows));
  }
  /// The other ranks that a particle of that rank may reach in a step.
  std::vector<int> neighbours(int rank, double speed) const;
};

} // namespace kontor::graph
