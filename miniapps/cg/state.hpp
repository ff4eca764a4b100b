// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "cg/problem/problem.hpp"
#include "cg/solver/solver.hpp"

#include <kontor/comm/communicator.hpp>
#include <kontor/output/file.hpp>
#include <kontor/output/reader.hpp>

/// A solve in a checkpoint: vectors in the order of the problem, which does not depend on the ranks.
namespace kontor::cg {

/// Collective. Writes what the solver resumes from, and what the matrix is known by, below /state.
void write_state(output::File&, const comm::Communicator&, const Problem&, const Partition&, const SolverOptions&,
                 const Solver&);

/// Collective. The solver resumes from what was written. Returns how many iterations were made. Throws config::Error on
/// all ranks where the solve cannot go on: the matrix is another one, all iterations are made, it has ended before the
/// tolerance, or gauss_seidel would be another preconditioner on these ranks.
std::int64_t read_state(const output::Reader&, const comm::Communicator&, const Problem&, const Partition&,
                        const SolverOptions&, Solver&);

} // namespace kontor::cg
