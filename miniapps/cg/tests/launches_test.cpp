// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How many kernels an iteration launches: a small problem's time on a device is theirs.
#include "cost.hpp"
#include "small_system.hpp"

#include <kontor/comm/communicator.hpp>
#include <kontor/device/compat.hpp>

#include <gtest/gtest.h>
#include <mpi.h>

namespace kontor::cg::test {
namespace {

int kernels_of(const SolverOptions& options) {
  const comm::Communicator alone(MPI_COMM_SELF);
  Bench bench(alone, irregular(40), options, true, true);
  const auto solver = make_solver(bench.workspace());
  solver->reset();
  comm::test::start_recording_tools();
  solve(*solver);
  return static_cast<int>(comm::test::stop_recording_tools().kernels.size());
}

/// Of one rank, where no messages are packed.
int kernels_an_iteration(SolverOptions options) {
  options.tolerance = 0;
  options.replace_every = 0;
  options.graph = stepping::Graphs::off;
  options.max_iterations = 4;
  const int few = kernels_of(options);
  options.max_iterations = 14;
  const int more = kernels_of(options) - few;
  EXPECT_EQ(more % 10, 0);
  return more / 10;
}

TEST(Launches, AreFewAnIteration) {
  const int dot = device::kernels_on_host ? 1 : 0; // a host adds up the parts of a product's dot by a kernel
  for (const auto preconditioner : {PreconditionerKind::none, PreconditionerKind::jacobi}) {
    SCOPED_TRACE(static_cast<int>(preconditioner));
    EXPECT_EQ(kernels_an_iteration({.method = Method::classic, .preconditioner = preconditioner}), 3 + dot);
    EXPECT_EQ(kernels_an_iteration({.method = Method::merged, .preconditioner = preconditioner}), 2 + dot);
    EXPECT_EQ(kernels_an_iteration({.method = Method::pipelined, .preconditioner = preconditioner}), 2);
  }
  for (const auto method : all_methods)
    EXPECT_EQ(kernels_an_iteration({.method = method, .fused = false}), 5) << int(method);
}

} // namespace
} // namespace kontor::cg::test
