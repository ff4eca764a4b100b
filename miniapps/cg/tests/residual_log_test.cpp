// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The decisions of an iteration's step, and the log by which the host learns of its end.
#include "cg/solver/residual_log.hpp"
#include "small_system.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <utility>

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
  explicit WrittenLog(int interval, double tolerance, std::int64_t stagnation) : log(interval) {
    log.begin();
    auto& state = *log.state();
    state.rhs = 1;
    state.tolerance = tolerance * tolerance;
    state.stagnation = stagnation;
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
    WrittenLog w(16, 1e-3, 0);
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

TEST(ResidualLog, GivesUpWithoutASmallerResidual) {
  if (!device::kernels_on_host) GTEST_SKIP();
  WrittenLog w(1, 1e-3, 10);
  for (const double residual : {1.0, 2.0, 3.0, 0.5}) w.write(residual); // 0.5 is of iteration 3
  for (int i = 0; i < 9; ++i) {
    w.write(0.5);
    EXPECT_FALSE(w.log.ended(Space(), w.written)) << i;
  }
  w.write(0.5);
  EXPECT_TRUE(w.log.ended(Space(), w.written));
  EXPECT_EQ(w.log.ending(), StopReason::stagnation);
}

} // namespace
} // namespace kontor::cg::test
