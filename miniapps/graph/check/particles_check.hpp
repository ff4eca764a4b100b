// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "graph/problem/particle.hpp"
#include "run/record/result.hpp"

namespace kontor::graph {

/// Collective. Particles after so many steps: their number, momentum and identities are those of the start, and each is
/// where the start and its velocity lead, at its owner. `checksum`: of identities and places, of all ranks.
miniapp::Verification check_particles(const comm::Communicator&, const Options&, const Torus&,
                                      const std::vector<Particle>&, std::int64_t steps, std::uint64_t& checksum);

} // namespace kontor::graph
