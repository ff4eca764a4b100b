// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "cg/matrix/thread_rows.hpp"
#include "cg/solver/persistent_teams.hpp"

/// Iterations by one kernel, for problems so small that launches are most of their time. Its threads stay for all of
/// them, and wait for each other and for the kernels of other ranks: L. Zhang, M. Wahib, P. Chen, J. Meng, X. Wang, T.
/// Endo, S. Matsuoka, "PERKS: a locality-optimized execution model for iterative memory-bound GPU applications", ICS
/// 2023. In merged all teams wait twice an iteration, for the vector that is multiplied and for sums; in pipelined
/// once, as sums travel during the product. Nothing of the last step is left to the next one.
namespace kontor::cg {

/// The iterations: what the method's kernels have, and how many.
struct PersistentSteps {
  OneSumUpdate update;
  Vector multiplied; ///< own rows of what the matrix is multiplied with: of the first of the vectors in turn
  Vector product;
  int steps;
  PersistentTeams* teams;
  PeerSteps peers;
  device::Counter first; ///< number that no kernel has used

  /// How many numbers it uses. Before its first step, pipelined sends what a step leaves.
  int numbers() const { return steps + (std::holds_alternative<PipelinedUpdate>(update) ? 1 : 0); }
};

/// Local; waits for nothing. Steps by one kernel.
void launch_persistent(const Space& instance, const ThreadRows& matrix, const PersistentSteps& steps);

} // namespace kontor::cg
