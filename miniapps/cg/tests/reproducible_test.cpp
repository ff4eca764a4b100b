// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// With reproducible sums a solve has the same bits on all ranks together as on one alone.
#include "app.hpp"
#include "small_system.hpp"

#include <gtest/gtest.h>
#include <mpi.h>

#include <vector>

namespace kontor::cg::test {
namespace {

/// The residuals of a solve; collective over `native`.
std::vector<double> residuals(MPI_Comm native, Options options, bool overlap) {
  const comm::Communicator comm(native);
  options.process_grid = {1, comm.size(), 1};
  App app(options, comm, overlap);
  app.run();
  return app.cg.record().history.values;
}

TEST(Reproducible, SameResidualsAsOnOneRank) {
  bool overlap = false; // another one each time
  for (const auto kind : {ProblemKind::stencil, ProblemKind::fe_heat})
    for (const auto method : all_methods)
      for (const auto format : {Format::csr, Format::sell})
        for (const auto preconditioner : preconditioners(true)) {
          overlap = !overlap;
          auto options = reproducible(kind, method, preconditioner);
          options.solver.format = format;
          SCOPED_TRACE(testing::Message()
                       << "problem " << int(kind) << ", overlap " << overlap << words_of(options.solver));
          const auto alone = residuals(MPI_COMM_SELF, options, true);
          EXPECT_GT(alone.size(), 5u);
          EXPECT_EQ(residuals(MPI_COMM_WORLD, options, overlap), alone);
        }
}

} // namespace
} // namespace kontor::cg::test
