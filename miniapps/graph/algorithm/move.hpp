// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "graph/algorithm/buckets.hpp"
#include "graph/problem/particle.hpp"

#include <cstdint>
#include <vector>

namespace kontor::graph {

/// Local. A step of all particles; those that leave the rank's block go to the buckets.
inline void move(std::vector<Particle>& particles, const Torus& torus, int rank, Buckets<Particle>& buckets) {
  std::size_t kept = 0;
  for (auto& p : particles) {
    p.x += static_cast<std::uint32_t>(p.vx);
    p.y += static_cast<std::uint32_t>(p.vy);
    const int owner = torus.owner(p.x, p.y);
    if (owner == rank)
      particles[kept++] = p;
    else
      buckets[owner].push_back(p);
  }
  particles.resize(kept);
}

} // namespace kontor::graph
