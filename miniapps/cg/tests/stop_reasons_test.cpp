// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each way in which an iteration ends, and what the verification makes of it.
#include "cg/check/symmetry.hpp"
#include "cg/solver/residual_log.hpp"
#include "small_system.hpp"

#include <kontor/mpi/world.hpp>

#include <set>

namespace kontor::cg::test {
namespace {

TEST(Steps, AreRefusedForTheRightReason) {
  const auto nan = std::numeric_limits<double>::quiet_NaN();
  const auto problem = [](double rr, double rz, double curvature, bool exact = true) {
    return problem_of(rr, rz, exact, curvature, exact);
  };
  EXPECT_EQ(problem(1, 1, 1), 0);
  EXPECT_EQ(problem(1, 1, -1), code_of(StopReason::indefinite));
  EXPECT_EQ(problem(1, 1, 0), code_of(StopReason::indefinite));
  EXPECT_EQ(problem(1, 1, -1, false), code_of(StopReason::breakdown));
  EXPECT_EQ(problem(1, -1, 1), code_of(StopReason::indefinite_preconditioner));
  EXPECT_EQ(problem(1, -1, 1, false), code_of(StopReason::breakdown));
  EXPECT_EQ(problem(1, 0, 1), code_of(StopReason::breakdown));
  EXPECT_EQ(problem(1e-300, 1e-300, 0), code_of(StopReason::breakdown)); // underflow
  EXPECT_EQ(problem(1, 1, nan), code_of(StopReason::not_finite));
  EXPECT_EQ(problem(1, nan, 1), code_of(StopReason::not_finite));
}

TEST(Steps, OfOneSumHaveTheCurvatureOfTheirDirection) {
  CgScalars numbers;
  EXPECT_EQ(end_of_step(numbers, 4, 4, 2, true, 4).problem, 0);
  EXPECT_EQ(numbers.alpha, 2);
  const auto next = [&](double delta, bool exact, double rhs) {
    auto copy = numbers; // beta = 1 / 4, and p.A p = delta - 1 / 8
    return std::pair(end_of_step(copy, 1, 1, delta, exact, rhs).problem, copy.alpha);
  };
  EXPECT_EQ(next(0.5, true, 4), std::pair(0, 1 / 0.375));
  EXPECT_EQ(next(0.1, true, 4).first, code_of(StopReason::breakdown)); // not proved
  EXPECT_EQ(next(-0.1, true, 4).first, code_of(StopReason::indefinite));
  EXPECT_EQ(next(-0.1, false, 4).first, code_of(StopReason::breakdown));
  EXPECT_EQ(next(-0.1, false, 1e26), std::pair(0, 0.0)); // rounding
}

/// A log that is written to here.
class WrittenLog {
 public:
  explicit WrittenLog(int interval, double tolerance) : log(interval) {
    log.begin();
    auto& state = *log.state();
    state.rhs = 1;
    state.tolerance = tolerance * tolerance;
  }
  void write(double residual) {
    log.writer()({residual * residual, 0, 0, 0, true});
    ++written;
  }
  ResidualLog log;
  std::int64_t written = 0;
};

TEST(ResidualLog, IsReadLateAndLosesNothing) {
  if (!device::kernels_on_host) GTEST_SKIP();
  for (const int at_once : {1, 16}) {
    WrittenLog w(16, 1e-3);
    bool ended = false;
    while (!ended) {
      for (int i = 0; i < at_once; ++i) w.write(w.written < 1000 ? 1.0 + static_cast<double>(w.written) : 1e-4);
      ended = w.log.ended(Space(), w.written);
      ASSERT_LT(w.written, 1100);
    }
    EXPECT_GE(w.written, 1001 + 16); // not before a look later
    EXPECT_LE(w.written, 1001 + 32 + at_once);
    w.log.end(Space(), w.written);
    EXPECT_EQ(w.log.ending(), StopReason::converged);
    ASSERT_EQ(w.log.made().size(), 1001u);
    for (std::size_t i = 0; i < 1000; ++i) ASSERT_DOUBLE_EQ(w.log.made()[i].residual, 1.0 + static_cast<double>(i));
  }
}

/// By each method, with and without jacobi where that makes sense.
template <class Check>
void by_all_methods(const SmallSystem& system, SolverOptions options, const Check& check) {
  options.launch = stepping::Launch::per_kernel; // or it is tried each time
  for (const auto method : all_methods)
    for (const bool as_on_device : {false, true}) {
      options.method = method;
      const auto solved = solve(system, options, true, as_on_device);
      SCOPED_TRACE(testing::Message() << "method " << int(method) << " as on a device " << as_on_device << ": "
                                      << words(solved.outcome));
      check(solved, method);
    }
}

/// The residual grows from iteration 3 on, and is 0 after as many as there are rows.
SmallSystem growing() {
  auto system = line(24);
  for (int i = 0; i < 24; ++i)
    for (int j = 0; j < 24; ++j) system.matrix[i][j] *= std::pow(1.3, i + j);
  system.rhs.assign(24, 0);
  system.rhs[0] = 1;
  return system;
}

struct Stop {
  SmallSystem system;
  SolverOptions options;
  StopReason ending;
  std::int64_t iterations;
  Values x = {}; ///< empty: not looked at
};

TEST(StopReasons, AreThoseOfTheSystem) {
  auto zero = irregular(20), exact = line(4), negative = line(9);
  zero.rhs.assign(20, 0);
  exact.guess = {2, 3, 3, 2};
  negative.matrix[6][6] = -2;
  auto overflow = line(9), broken = line(9), infinite = line(9);
  overflow.rhs.assign(9, 1e200);
  broken.matrix[4][4] = std::numeric_limits<double>::quiet_NaN();
  infinite.rhs[8] = std::numeric_limits<double>::infinity();
  auto saddle = diagonal({1, 1});
  saddle.matrix = {{1, 2}, {2, 1}};
  saddle.rhs = {1, -1};
  using enum StopReason;
  using enum PreconditionerKind;
  for (const auto& ending : {
           Stop{line(50), {.tolerance = 0, .max_iterations = 7}, all_iterations, 7},
           {line(50), {.tolerance = 1e-9, .max_iterations = 7}, limit, 7},
           {line(50), {.tolerance = 1e-9, .max_iterations = 25}, converged, 25}, // x is symmetric
           {diagonal({2, 2, 2, 2, 2}), {.tolerance = 0, .max_iterations = 40}, converged, 1, Values(5, 0.5)},
           {zero, {.tolerance = 0}, zero_rhs, 0, Values(20, 0)},
           {zero, {.tolerance = 1e-8}, zero_rhs, 0, Values(20, 0)},
           {exact, {.tolerance = 0}, exact_guess, 0, exact.guess},
           {exact, {.tolerance = 1e-8}, exact_guess, 0, exact.guess},
           {negative, {.preconditioner = jacobi}, indefinite, 0},
           {negative, {.preconditioner = chebyshev}, indefinite, 0},
           {negative, {.preconditioner = gauss_seidel}, indefinite, 0},
           {saddle, {.preconditioner = none, .tolerance = 1e-8}, indefinite, 0, Values(2, 0)},
           {saddle, {.preconditioner = jacobi, .tolerance = 1e-8}, indefinite, 0, Values(2, 0)},
           {overflow, {}, converged, 5},
           {broken, {}, not_finite, 0},
           {infinite, {}, not_finite, 0},
           {growing(), {.tolerance = 1e-6, .stagnation = 10}, stagnation, 13},
           {growing(), {.tolerance = 1e-6, .stagnation = 0}, converged, 24},
           {growing(), {.tolerance = 1e-6, .stagnation = 25}, converged, 24},
           {irregular(61), {.replace_every = 5, .tolerance = 0, .max_iterations = 150}, all_iterations, 150},
       })
    by_all_methods(ending.system, ending.options, [&](const Solved& s, Method) {
      EXPECT_EQ(s.outcome.ending, ending.ending);
      EXPECT_EQ(s.outcome.iterations, ending.iterations);
      EXPECT_TRUE(ending.x.empty() || s.x == ending.x);
      EXPECT_TRUE(s.outcome.residual == 0 || ending.ending != zero_rhs);
      EXPECT_TRUE(s.outcome.residual < 1e-12 || ending.iterations < 150); // though rounding leaves no step
    });
  by_all_methods(saddle, {.preconditioner = chebyshev, .tolerance = 1e-8}, [&](const Solved& s, Method) {
    EXPECT_FALSE(succeeded(s.outcome.ending)); // for one of several reasons
    EXPECT_EQ(s.outcome.iterations, 0);
    EXPECT_EQ(s.x, Values(2, 0));
  });
}

TEST(StopReasons, IndefiniteLater) {
  by_all_methods(diagonal({4, 3, 2, 1, -1}), {.tolerance = 1e-12}, [](const Solved& s, Method method) {
    EXPECT_TRUE(s.outcome.ending == StopReason::indefinite ||
                (method != Method::classic && s.outcome.ending == StopReason::breakdown));
    EXPECT_GT(s.outcome.iterations, 0);
    EXPECT_EQ(s.history.size(), s.outcome.iterations + 1u);
  });
}

TEST(Verification, FailsWhateverTheResidualUnlessTheEndingIsASuccess) {
  SolvedOnce solved(irregular(20), {});
  EXPECT_TRUE(solved.verified().passed());
  for (const auto ending : {StopReason::limit, StopReason::indefinite, StopReason::indefinite_preconditioner,
                            StopReason::breakdown, StopReason::stagnation, StopReason::not_finite}) {
    solved.outcome.ending = ending;
    const auto result = solved.verified();
    EXPECT_TRUE(result.failed());
    EXPECT_NE(result.remark.find(words(solved.outcome)), std::string::npos) << result.remark;
  }
}

/// With tolerance 0 the residual may be of any size, but it is that of the recurrence.
TEST(Verification, FailsAResidualThatIsNotTheRecurrences) {
  SolvedOnce solved(irregular(20), {.tolerance = 0, .max_iterations = 4});
  const auto residual = solved.outcome.residual;
  EXPECT_GT(residual, 1e-4);
  EXPECT_LT(solved.verified().error, 1e-14);
  for (const auto& [more, passes] : {std::pair(0.0, true), {5e-9, true}, {1.5e-8, false}}) {
    solved.outcome.residual = residual + more;
    const auto result = solved.verified();
    EXPECT_EQ(result.passed(), passes) << more;
    EXPECT_NE(result.measure.find("recurrence"), std::string::npos) << result.measure;
  }
  solved.outcome.residual = residual;
  if (mpi::world_rank() == 0) // a solution that the iteration did not make
    Kokkos::deep_copy(Kokkos::subview(solved.solver().solution(), std::pair(0, 1)), 1.0);
  EXPECT_TRUE(solved.verified().failed());
}

TEST(StopReasons, AreToldAndAreSuccessesOrNot) {
  expect_facts(cg::words(Outcome{StopReason::limit, 4, 3.1e-9}),
               {"solver.max_iterations", "after 4 iterations", "3.10e-09"});
  std::set<std::string_view> words;
  for (int ending = 0; ending <= static_cast<int>(StopReason::not_finite); ++ending) {
    words.insert(keyword(static_cast<StopReason>(ending)));
    EXPECT_EQ(succeeded(static_cast<StopReason>(ending)), ending < static_cast<int>(StopReason::limit));
  }
  EXPECT_EQ(words.size(), static_cast<std::size_t>(StopReason::not_finite) + 1);
  for (const auto word : words)
    EXPECT_EQ(word.find_first_not_of("abcdefghijklmnopqrstuvwxyz_"), std::string_view::npos) << word;
}

/// A stencil of 8 x 8 x 8 points on all ranks.
Options cube_of_points(const comm::Communicator& comm) {
  Options options;
  options.stencil.points = {8, 8, 8};
  options.process_grid = {comm.size(), 1, 1};
  return options;
}

/// What the verification has found is in the record.
TEST(Cg, RecordsHowNearItHasCome) {
  auto options = cube_of_points(world());
  options.solver.preconditioner = PreconditionerKind::chebyshev;
  options.solver.format = Format::sell;
  options.solver.tolerance = 1e-6;
  App app(options, world());
  app.run();
  EXPECT_FALSE(app.cg.record().contains("true_residual")); // with a backend that moves nothing
  EXPECT_TRUE(app.cg.verify().passed());
  const auto extras = app.cg.record();
  EXPECT_EQ(extras["ending"], "converged");
  EXPECT_NEAR(extras["true_residual"], extras["residual"], 1e-12);
  EXPECT_GT(extras["true_residual"], 0);
  EXPECT_GT(extras["error"], 0);
  EXPECT_LT(extras["error"], 1e-6);
  EXPECT_DOUBLE_EQ(extras["error"], extras["relative_error"]); // of ones
  const auto& solver = extras["solver"];
  miniapp::test::expect_values(solver, R"({"/method": "classic", "/preconditioner": "chebyshev", "/chebyshev_degree": 3,
      "/format": "sell", "/sums": "any_order"})");
  EXPECT_EQ(solver.value("sums_on", "nothing travels"), world().size() > 1 ? "host" : "nothing travels");

  const auto& matrix = extras["matrix"];
  const std::int64_t face = 64, cuts = world().size() - 1, most = cuts > 1 ? 2 * face : cuts * face;
  miniapp::test::expect_values(matrix, fmt::format(R"({{"/ghosts": {}, "/ghosts_min": {}, "/ghosts_max": {},
      "/neighbours": {}, "/neighbours_min": {}, "/interior_rows": {}}})",
                                                   2 * cuts * face, cuts > 0 ? face : 0, most, 2 * cuts,
                                                   cuts > 0 ? 1 : 0, 512 - 2 * cuts * face));
  EXPECT_LE(matrix["interior_rows_min"], matrix["interior_rows_max"]);
}

/// A run that did no work, or whose tolerance any answer meets.
TEST(Cg, IsInconclusiveWhereNothingWasSolved) {
  struct Case {
    const char *exact, *initial;
    double tolerance;
    bool passes;
  };
  for (const auto& [exact, initial, tolerance, passes] : {Case{"1+x", "0", 1e-8, true},
                                                          {"(1+x)*1e-200", "0", 1e-8, true},
                                                          {"(1+x)*1e200", "0", 1e-8, true},
                                                          {"1+x", "1+x", 1e-8, false},
                                                          {"1+x", "1+x*1.000001", 1e-3, false},
                                                          {"0", "0", 1e-8, false},
                                                          {"0", "1+x", 1e-8, false},
                                                          {"1+x", "0", 1, false},
                                                          {"1+x", "0", 0.2, false}}) {
    auto options = cube_of_points(world());
    options.stencil.exact = exact;
    options.initial = initial;
    options.solver.tolerance = tolerance;
    const auto verification = App(options, world()).verified();
    SCOPED_TRACE(testing::Message() << exact << ", guess " << initial << ", tolerance " << tolerance << ": "
                                    << verification.remark);
    EXPECT_EQ(verification.passed(), passes);
    EXPECT_EQ(verification.conclusive, passes);
  }
}

/// Of the matrix, and of M if there is one.
std::vector<double> asymmetries(MPI_Comm native, const SmallSystem& system, const SolverOptions& options) {
  const comm::Communicator comm(native);
  Bench bench(comm, system, options);
  const auto work = bench.workspace();
  const auto& partition = bench.system().partition;
  const auto own = std::pair<LocalIndex, LocalIndex>(0, partition.own);
  const Vector all("test/all", partition.own + partition.ghosts), product("test/product", partition.own);
  std::vector<double> found{asymmetry(comm, partition, Space(), all, product, [&](const Vector& v, const Vector& av) {
    work.matrix.multiply(Space(), Part::all, v, av);
  })};
  if (const auto m = make_preconditioner(work))
    found.push_back(asymmetry(comm, partition, Space(), all, product,
                              [&](const Vector& v, const Vector& mv) { m->apply(Kokkos::subview(v, own), mv); }));
  return found;
}

TEST(Symmetry, IsThereButForRounding) {
  for (const auto& system : {irregular(61), line(40), line(2), diagonal({3})})
    for (const auto preconditioner : preconditioners()) {
      const auto found = asymmetries(MPI_COMM_WORLD, system, {.preconditioner = preconditioner});
      for (const double departure : found) EXPECT_LT(departure, 1e-3 * symmetry_tolerance);
      if (preconditioner == PreconditionerKind::gauss_seidel) continue; // another one on other ranks
      EXPECT_EQ(found, asymmetries(MPI_COMM_SELF, system, {.preconditioner = preconditioner}));
    }
}

/// The identity and a part of the row before.
class Skew final : public Preconditioner {
 public:
  explicit Skew(double part) : part_(part) {}
  void apply(const Vector& r, const Vector& z) override {
    const auto from = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), r);
    const auto to = Kokkos::create_mirror_view(z);
    for (std::size_t i = 0; i < from.extent(0); ++i) to(i) = from(i) + (i > 0 ? part_ * from(i - 1) : 0);
    Kokkos::deep_copy(z, to);
  }
  Cost cost() const override { return {}; }

 private:
  double part_;
};

TEST(Symmetry, MissingFailsARun) {
  Skew identity(0), skew(1e-3);
  const SolverOptions options{.tolerance = 1e-3};
  SolvedOnce solved(irregular(61), options);
  const auto right = solved.verified(&identity);
  EXPECT_TRUE(right.passed());
  ASSERT_EQ(right.more.size(), 4u);
  EXPECT_EQ(right.more[0].first, "matrix_asymmetry");
  EXPECT_EQ(right.more[1].first, "preconditioner_asymmetry");
  EXPECT_NE(right.remark.find("asymmetry of the matrix"), std::string::npos) << right.remark;

  auto system = irregular(61);
  system.matrix[40][41] *= 1 + 1e-5; // one of a few hundred; it converges all the same
  const auto wrong_matrix = SolvedOnce(system, options).verified(&identity);
  EXPECT_TRUE(wrong_matrix.failed());
  EXPECT_NE(wrong_matrix.measure.find("asymmetry of the matrix"), std::string::npos) << wrong_matrix.measure;
  EXPECT_EQ(wrong_matrix.error, wrong_matrix.more[0].second);
  EXPECT_GT(wrong_matrix.error, 100 * symmetry_tolerance);

  const auto wrong_preconditioner = solved.verified(&skew);
  EXPECT_TRUE(wrong_preconditioner.failed());
  EXPECT_NE(wrong_preconditioner.measure.find("asymmetry of the preconditioner"), std::string::npos)
      << wrong_preconditioner.measure;
}

} // namespace
} // namespace kontor::cg::test
