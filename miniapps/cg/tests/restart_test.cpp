// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A solve that resumes from a state, or from a checkpoint's file on any ranks, has the residuals and the solution, to
// the last bit, of one that was never interrupted.
#include "cg/solver/solver_state.hpp"
#include "methods.hpp"
#include "run/checkpoint/restart.hpp"
#include "small_system.hpp"

#include <tuple>

namespace kontor::cg::test {
namespace {

using namespace miniapp::test;

/// How a small system is solved.
struct Way {
  SolverOptions options;
  bool overlap = true;
  bool as_on_device = false;

  std::string words() const {
    return fmt::format("{}, as on a device {}, overlap {}, graph {}", words_of(options).dump(), as_on_device, overlap,
                       static_cast<int>(options.launch.value));
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
  const auto solver = bench.solver();
  bool is_saved = false;
  const auto save = [&](std::int64_t made, const auto& drain) {
    if (made < at || is_saved) return false;
    drain();
    is_saved = true;
    saved.state = solver->state();
    EXPECT_EQ(saved.state.iterations, made);
    for (const auto& vector : saved.state.vectors)
      saved.vectors[vector.name] = gathered(comm, bench.system().partition, vector.values);
    return false;
  };
  solve(*solver, {.ends = save});
  EXPECT_TRUE(is_saved);
  return found_by(*solver, comm, bench.system().partition);
}

/// Collective. The rest of a solve that was saved.
Solved go_on(const comm::Communicator& comm, const SmallSystem& system, const Way& way, const Saved& saved) {
  Bench bench(comm, system, way.options, way.overlap, way.as_on_device);
  const auto solver = bench.solver();
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
    for (const auto sums : {SumKind::any_order, SumKind::reproducible})
      for (const auto preconditioner : preconditioners(sums == SumKind::reproducible)) {
        Way way{{.method = method,
                 .replace_every = 10,
                 .preconditioner = preconditioner,
                 .tolerance = 1e-10,
                 .max_iterations = 200,
                 .sums = sums,
                 .launch = stepping::Launch::per_kernel}};
        const auto expected = solve(system, way.options);
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
               .launch = stepping::Launch::per_kernel}};
      const auto expected = solve(system, way.options);
      way.as_on_device = true;
      way.options.launch = stepping::Launch::graph;
      SCOPED_TRACE(way.words());
      Saved saved;
      expect_same(solve_and_save(self, system, way, 20, saved), expected);
      expect_same(go_on(self, system, way, saved), expected);
      if (preconditioner != PreconditionerKind::chebyshev) continue;
      saved.state.estimates[0] *= 1.5; // a graph has the numbers of the one that it was made with
      const auto other = go_on(self, system, way, saved);
      way.options.launch = stepping::Launch::per_kernel;
      expect_same(other, go_on(self, system, way, saved));
      EXPECT_NE(other.history, expected.history);
    }
}

/// On a device a solve may have ended some iterations before a checkpoint.
TEST(Restart, ASolveThatHasEndedStaysSo) {
  if (world_size() > 2) GTEST_SKIP() << "fewer ranks tell the same";
  const auto system = irregular(61);
  for (const auto method : all_methods) {
    Way way{{.method = method, .tolerance = 1e-6, .max_iterations = 200, .launch = stepping::Launch::per_kernel}};
    const auto expected = solve(system, way.options);
    way.as_on_device = true;
    for (const std::int64_t more : {0, 3}) {
      SCOPED_TRACE(fmt::format("{}, {} more", way.words(), more));
      Saved saved;
      expect_same(solve_and_save(world(), system, way, expected.outcome.iterations + more, saved), expected);
      EXPECT_NE(saved.state.state.ended, 0);
      expect_same(go_on(world(), system, way, saved), expected);
    }
  }
}

/// A run of cg that writes checkpoints.
struct Written : miniapp::test::Loan {
  Written(const Options& options, MPI_Comm native, const miniapp::CheckpointOptions& wanted)
      : Loan("cg", comm::Communicator(native), wanted), cg(options, context()) {
    run(cg);
  }
  Cg cg;
};

/// What a run finds.
struct Answer {
  std::vector<double> history;
  Values x;
  double iterations = 0; ///< that were made here
};
Answer answer_of(const comm::Communicator& comm, Cg& cg) {
  EXPECT_TRUE(cg.verify().passed());
  return {cg.record().at("history").at("residual"), gathered(comm, cg.partition(), cg.solution()),
          cg.figures(1.0, {})[2].value};
}

/// On the ranks of `native`, from the beginning or from a checkpoint.
Answer run(const Options& options, MPI_Comm native, const std::string& checkpoint = "", const comm::Options& how = {},
           bool overlap = true) {
  const comm::Communicator comm(native, how);
  App app(options, comm, overlap);
  app.cg.warm_up();
  app.cg.reset();
  if (!checkpoint.empty()) app.cg.read_state(miniapp::Restart(native, checkpoint).reader());
  app.cg.run();
  return answer_of(comm, app.cg);
}

void expect_same(const Answer& found, const Answer& expected, const std::string& how) {
  EXPECT_EQ(found.history, expected.history) << how;
  EXPECT_TRUE(found.x == expected.x) << how;
}

/// Through files, from each of some numbers of ranks onto each of them, by other methods each time.
TEST(Restart, AnyRanksGoOnFromAnyRanks) {
  if (world_size() != 7) GTEST_SKIP() << "others are 7";
  const Folder folder("cg-restart");
  const auto matrix = write(folder, "matrix.mtx", text_of(shuffled_grid(9, true)));
  const auto methods = device::kernels_on_host ? comm::test::methods() : comm::test::device_methods();
  int turn = 0, problem = 0;
  for (const auto& [kind, method, preconditioner] :
       {std::tuple(ProblemKind::stencil, Method::classic, PreconditionerKind::none),
        std::tuple(ProblemKind::fe_heat, Method::merged, PreconditionerKind::chebyshev),
        std::tuple(ProblemKind::matrix_market, Method::pipelined, PreconditionerKind::jacobi),
        std::tuple(ProblemKind::stencil, Method::pipelined, PreconditionerKind::chebyshev)}) {
    auto options = reproducible(kind, method, preconditioner);
    options.matrix_market.file.path = matrix;
    ++problem;
    turn = 0;
    const auto on = [&, boxes = kind != ProblemKind::matrix_market](int ranks, int grid) {
      auto o = options;
      if (boxes) o.process_grid = some_grid(ranks, 3, grid);
      return o;
    };
    const auto alone = run(on(1, 0), MPI_COMM_SELF);
    for (const int from : some_ranks()) {
      const auto file = folder / fmt::format("{}-from-{}.h5", problem, from);
      if (const auto writers = first_ranks(from); writers != MPI_COMM_NULL) {
        Written written(on(from, from), writers, checkpoints(file, 4, 1));
        EXPECT_GE(written.checkpoints->steps().size(), 1u);
        expect_same(answer_of(written.comm, written.cg), alone, fmt::format("{} ranks write", from));
      }
      MPI_Barrier(MPI_COMM_WORLD);
      for (const int onto : some_ranks()) {
        if (++turn % 4 != problem % 4) continue; // each pair by one of the solves
        if (const auto readers = first_ranks(onto); readers != MPI_COMM_NULL) {
          const auto& method = methods[static_cast<std::size_t>(turn) % methods.size()];
          const auto found = run(on(onto, turn), readers, file, method, turn % 2 == 0);
          expect_same(found, alone, fmt::format("{} onto {} ranks by {}", from, onto, comm::to_string(method)));
          EXPECT_LT(found.iterations, static_cast<double>(alone.history.size() - 4));
        }
      }
      MPI_Barrier(MPI_COMM_WORLD);
    }
  }
}

/// The facts of a refusal.
void expect_refused(const Options& options, const std::string& checkpoint, const std::vector<std::string>& facts) {
  expect_facts(error_of([&] { run(options, MPI_COMM_WORLD, checkpoint); }), facts);
}

TEST(Restart, RefusesWhatItCannotGoOnWith) {
  if (world_size() > 2) GTEST_SKIP() << "fewer ranks do";
  const Folder folder("cg-refusal");
  auto options = reproducible(ProblemKind::stencil, Method::classic, PreconditionerKind::none);
  options.process_grid = some_grid(world_size(), 3, 0);
  auto wanted = checkpoints(folder / "x.h5", 10);
  Written(options, MPI_COMM_WORLD, wanted);
  if (device::kernels_on_host) { // on a device the newest is of a solve that has ended
    auto other = options;
    other.solver.max_iterations = 10;
    expect_refused(other, wanted.file, {"solver.max_iterations", "10", "x-0000000", "made"});
    other = options;
    other.solver.tolerance = 1e-11;
    EXPECT_GT(run(other, MPI_COMM_WORLD, wanted.file).history.size(), run(options, MPI_COMM_WORLD).history.size());
  }

  options.kind = ProblemKind::matrix_market;
  options.matrix_market.file.path = write(folder, "matrix.mtx", text_of(shuffled_grid(9, true)));
  options.process_grid.clear();
  wanted.file = folder / "m.h5";
  Written(options, MPI_COMM_WORLD, wanted);
  write(folder, "matrix.mtx", text_of(shuffled_grid(9, false)));
  expect_refused(options, wanted.file, {"matrix", "CRC-32", "m-0000000"});

  if (!has_gauss_seidel() || world_size() == 1) return;
  options = reproducible(ProblemKind::stencil, Method::classic, PreconditionerKind::gauss_seidel);
  options.solver.sums = SumKind::any_order;
  options.process_grid = some_grid(world_size(), 3, 0);
  wanted = checkpoints(folder / "g.h5", 3);
  Written(options, MPI_COMM_WORLD, wanted);
  run(options, MPI_COMM_WORLD, wanted.file);
  options.process_grid = some_grid(world_size(), 3, 1);
  expect_refused(options, wanted.file, {"gauss_seidel", "g-0000000", "process grid"});
}

} // namespace
} // namespace kontor::cg::test
