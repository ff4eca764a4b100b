// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// With reproducible sums a solve has the same bits on all ranks together as on one alone.
#include "cg/cg.hpp"

#include <kontor/comm/communicator.hpp>

#include <gtest/gtest.h>
#include <mpi.h>

#include <string>
#include <vector>

namespace kontor::cg {
namespace {

Options options_of(ProblemKind kind, Method method, Format format, PreconditionerKind preconditioner) {
  Options options;
  options.kind = kind;
  options.stencil.points = {11, 9, 13};
  options.stencil.exact = "sin(3*x)+y*z";
  options.fe_heat.elements = {7, 8, 6};
  options.fe_heat.conductivity = "1+x*y";
  options.fe_heat.source = "exp(x)";
  options.fe_heat.faces[0].condition = FaceCondition::temperature;
  options.solver.method = method;
  options.solver.format = format;
  options.solver.preconditioner = preconditioner;
  options.solver.replace_every = 7;
  options.solver.tolerance = 1e-9;
  options.solver.sums = SumKind::reproducible;
  return options;
}

/// The residuals of a solve; collective over `native`.
std::vector<double> residuals(MPI_Comm native, Options options, bool overlap) {
  const comm::Communicator comm(native);
  if (comm.size() == 1)
    options.process_grid = {1, 1, 1};
  else
    options.process_grid = {1, comm.size(), 1};
  miniapp::Timers timers("cg");
  miniapp::Progress progress(miniapp::Progress::Style::silent);
  Cg cg(options, {comm, overlap, timers, progress});
  cg.reset();
  cg.run();
  return cg.record().history.values;
}

TEST(Reproducible, SameResidualsAsOnOneRank) {
  for (const auto kind : {ProblemKind::stencil, ProblemKind::fe_heat})
    for (const auto method : {Method::classic, Method::merged, Method::pipelined})
      for (const auto format : {Format::csr, Format::sell})
        for (const auto preconditioner :
             {PreconditionerKind::none, PreconditionerKind::jacobi, PreconditionerKind::chebyshev})
          for (const bool overlap : {true, false}) {
            const auto options = options_of(kind, method, format, preconditioner);
            SCOPED_TRACE(::testing::Message()
                         << "problem " << static_cast<int>(kind) << ", method " << static_cast<int>(method)
                         << ", format " << static_cast<int>(format) << ", preconditioner "
                         << static_cast<int>(preconditioner) << ", overlap " << overlap);
            const auto alone = residuals(MPI_COMM_SELF, options, true);
            EXPECT_GT(alone.size(), 5u);
            EXPECT_EQ(residuals(MPI_COMM_WORLD, options, overlap), alone);
          }
}

} // namespace
} // namespace kontor::cg
