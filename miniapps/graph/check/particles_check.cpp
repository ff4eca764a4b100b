// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "graph/check/particles_check.hpp"

#include "grid/axis_parts.hpp"

#include <kontor/comm/reductions.hpp>

#include <fmt/format.h>

#include <array>

namespace kontor::graph {
namespace {

/// Number, momentum along x and y, identities.
using Conserved = std::array<std::uint64_t, 4>;

void add(Conserved& sums, const Particle& p) {
  ++sums[0];
  sums[1] += static_cast<std::uint64_t>(std::int64_t{p.vx});
  sums[2] += static_cast<std::uint64_t>(std::int64_t{p.vy});
  sums[3] += random::mix(static_cast<std::uint64_t>(p.identity) + random::step);
}

} // namespace

miniapp::Verification check_particles(const comm::Communicator& comm, const Options& o, const Torus& torus,
                                      const std::vector<Particle>& particles, std::int64_t steps,
                                      std::uint64_t& checksum) {
  Conserved now{}, start{};
  std::array<std::uint64_t, 2> sums{}; // wrong ones, places
  for (const auto& p : particles) {
    add(now, p);
    const bool known = p.identity >= 0 && p.identity < o.particles;
    const auto first = particle_of(o, known ? p.identity : 0);
    const auto x = static_cast<std::uint32_t>(first.x + static_cast<std::uint64_t>(steps) *
                                                            static_cast<std::uint64_t>(std::int64_t{first.vx}));
    const auto y = static_cast<std::uint32_t>(first.y + static_cast<std::uint64_t>(steps) *
                                                            static_cast<std::uint64_t>(std::int64_t{first.vy}));
    sums[0] +=
        !known || p.x != x || p.y != y || p.vx != first.vx || p.vy != first.vy || torus.owner(p.x, p.y) != comm.rank();
    sums[1] += random::bits_at(static_cast<std::uint64_t>(p.identity), p.x, p.y);
  }
  const auto own = grid::part_of_axis(o.particles, comm.size(), comm.rank());
  for (auto i = own.begin; i < own.end; ++i) add(start, particle_of(o, i));
  now = comm::allreduce(comm, now, comm::ReduceOp::sum);
  start = comm::allreduce(comm, start, comm::ReduceOp::sum);
  sums = comm::allreduce(comm, sums, comm::ReduceOp::sum);
  checksum = sums[1];
  const char* names[] = {"number", "momentum along x", "momentum along y", "identities"};
  miniapp::Verification result{.measure = "particles that are not where they must be, and sums that are not conserved",
                               .error = static_cast<double>(sums[0])};
  for (std::size_t i = 0; i < now.size(); ++i) {
    if (now[i] == start[i]) continue;
    ++result.error;
    result.remark += fmt::format("{}{} not conserved", result.remark.empty() ? "" : ", ", names[i]);
  }
  result.judged = {"all particles by their formula", "number, momentum and identities"};
  return result;
}

} // namespace kontor::graph
