// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A solve that goes on from a state has the residuals and the solution, to the last bit, of one that was never
// interrupted.
#include "cg/preconditioner/preconditioner.hpp"
#include "cg/solver/solver_state.hpp"
#include "small_system.hpp"

#include <kontor/mpi/world.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <mpi.h>

#include <map>
#include <string>
#include <utility>

namespace kontor::cg::test {
namespace {

using mpi::world_size;

/// How a small system is solved.
struct Way {
  SolverOptions options;
  bool overlap = true;
  bool as_on_device = false;

  std::string words() const {
    return fmt::format("{}, as on a device {}, overlap {}, graph {}", words_of(options).dump(), as_on_device, overlap,
                       static_cast<int>(options.graph.value));
  }
};

/// A state of a solve, whole on every rank.
struct Saved {
  SolverState state;
  std::map<std::string, Values> vectors;
};

/// Collective. The whole solve, of which the state after `at` iterations, or some more, is saved.
Solved solve_and_save(const comm::Communicator& comm, const SmallSystem& system, const Way& way, std::int64_t at,
                      Saved& saved) {
  Bench bench(comm, system, way.options, way.overlap, way.as_on_device);
  const auto solver = make_solver(bench.workspace());
  bool is_saved = false;
  const auto save = [&](std::int64_t made) {
    if (made < at || is_saved) return false;
    solver->drain();
    is_saved = true;
    saved.state = solver->state();
    EXPECT_EQ(saved.state.iterations, made);
    for (const auto& vector : saved.state.vectors)
      saved.vectors[vector.name] = gathered(comm, bench.system().partition, vector.values);
    return false;
  };
  solver->warm_up();
  solver->reset();
  solve(*solver, {.ends = save});
  EXPECT_TRUE(is_saved);
  return found_by(*solver, comm, bench.system().partition);
}

/// Collective. The rest of a solve that was saved.
Solved go_on(const comm::Communicator& comm, const SmallSystem& system, const Way& way, const Saved& saved) {
  Bench bench(comm, system, way.options, way.overlap, way.as_on_device);
  const auto solver = make_solver(bench.workspace());
  solver->warm_up();
  solver->reset();
  auto state = saved.state;
  state.vectors = solver->state().vectors;
  solver->go_on_from(state, [&](const SolverStateVector& vector) {
    Kokkos::deep_copy(vector.values, own_of(bench.system().partition, saved.vectors.at(vector.name)));
  });
  solve(*solver);
  return found_by(*solver, comm, bench.system().partition);
}

void expect_same(const Solved& found, const Solved& expected) {
  EXPECT_EQ(found.outcome.ending, expected.outcome.ending) << words(found.outcome);
  EXPECT_EQ(found.outcome.iterations, expected.outcome.iterations);
  EXPECT_EQ(found.history, expected.history);
  EXPECT_EQ(found.x, expected.x);
  for (const char* name : {"replacements", "drift", "eigenvalue_min", "eigenvalue_max"})
    EXPECT_EQ(found.record.value(name, 0.0), expected.record.value(name, 0.0)) << name;
}

/// Of every method and preconditioner, written and read as a host and as a device does it.
TEST(Restart, EveryMethodGoesOnWithTheSameBits) {
  if (world_size() > 2) GTEST_SKIP() << "fewer ranks tell the same";
  const comm::Communicator comm(MPI_COMM_WORLD), self(MPI_COMM_SELF);
  const auto system = irregular(61);
  int turn = 0;
  for (const auto method : all_methods)
    for (const auto& [fused, sums] :
         {std::pair(true, SumKind::fast), {false, SumKind::fast}, {true, SumKind::reproducible}})
      for (const auto preconditioner : preconditioners(sums == SumKind::reproducible)) {
        Way way{{.method = method,
                 .replace_every = 10,
                 .preconditioner = preconditioner,
                 .tolerance = 1e-10,
                 .max_iterations = 200,
                 .fused = fused,
                 .sums = sums,
                 .graph = stepping::Graphs::off}};
        const auto expected = solve(comm, system, way.options);
        ++turn;
        for (const bool writes_as_device : {false, true}) {
          const std::int64_t at =
              (turn + writes_as_device) % 2 == 0 ? 7 : 10; // 10: the residual has just been replaced
          way.as_on_device = writes_as_device;
          SCOPED_TRACE(fmt::format("{}; after {}", way.words(), at));
          Saved saved;
          expect_same(solve_and_save(comm, system, way, at, saved), expected);
          way.as_on_device = !writes_as_device;
          expect_same(go_on(comm, system, way, saved), expected);
          if (sums == SumKind::reproducible) expect_same(go_on(self, system, way, saved), expected);
        }
      }
}

/// By graphs, which the first iteration after a checkpoint is not part of.
TEST(Restart, GraphsGoOnWithTheSameBits) {
  if (world_size() > 1) GTEST_SKIP() << "the host sends messages";
  const comm::Communicator self(MPI_COMM_SELF);
  const auto system = irregular(61);
  for (const auto method : all_methods)
    for (const auto preconditioner : {PreconditionerKind::none, PreconditionerKind::chebyshev}) {
      Way way{{.method = method,
               .replace_every = 18,
               .preconditioner = preconditioner,
               .tolerance = 0,
               .max_iterations = 90,
               .graph = stepping::Graphs::off}};
      const auto expected = solve(self, system, way.options);
      way.as_on_device = true;
      way.options.graph = stepping::Graphs::on;
      SCOPED_TRACE(way.words());
      Saved saved;
      expect_same(solve_and_save(self, system, way, 20, saved), expected);
      expect_same(go_on(self, system, way, saved), expected);
      if (preconditioner != PreconditionerKind::chebyshev) continue;
      saved.state.estimates[0] *= 1.5; // a graph has the numbers of the one that it was made with
      const auto other = go_on(self, system, way, saved);
      way.options.graph = stepping::Graphs::off;
      expect_same(other, go_on(self, system, way, saved));
      EXPECT_NE(other.history, expected.history);
    }
}

/// On a device a solve may have ended some iterations before a checkpoint.
TEST(Restart, ASolveThatHasEndedStaysSo) {
  if (world_size() > 2) GTEST_SKIP() << "fewer ranks tell the same";
  const comm::Communicator comm(MPI_COMM_WORLD);
  const auto system = irregular(61);
  for (const auto method : all_methods) {
    Way way{{.method = method, .tolerance = 1e-6, .max_iterations = 200, .graph = stepping::Graphs::off}};
    const auto expected = solve(comm, system, way.options);
    way.as_on_device = true;
    for (const std::int64_t more : {0, 3}) {
      SCOPED_TRACE(fmt::format("{}, {} more", way.words(), more));
      Saved saved;
      expect_same(solve_and_save(comm, system, way, expected.outcome.iterations + more, saved), expected);
      EXPECT_NE(saved.state.state.ended, 0);
      expect_same(go_on(comm, system, way, saved), expected);
    }
  }
}

/// The preconditioner stays what it was, though on other ranks its bounds would be estimated otherwise.
TEST(Restart, TheEstimatesOfChebyshevStay) {
  const comm::Communicator comm(MPI_COMM_WORLD), self(MPI_COMM_SELF);
  const auto system = irregular(61);
  const Way way{{.preconditioner = PreconditionerKind::chebyshev, .tolerance = 1e-10, .max_iterations = 200}};
  Saved saved;
  const auto expected = solve_and_save(comm, system, way, 5, saved);
  const auto found = go_on(self, system, way, saved);
  EXPECT_EQ(found.record["eigenvalue_min"], expected.record["eigenvalue_min"]);
  EXPECT_EQ(found.record["eigenvalue_max"], expected.record["eigenvalue_max"]);
  EXPECT_NEAR(found.outcome.iterations, expected.outcome.iterations, 1);
}

} // namespace
} // namespace kontor::cg::test
