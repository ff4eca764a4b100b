// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "run/loop/progress.hpp"

#include <gtest/gtest.h>

namespace {

using namespace kontor::miniapp;

const ProgressWords sweeps{"sweep", "cell updates", "norm"};

TEST(Progress, SpeaksInTheAppsWords) {
  const ProgressState before{.step = 20, .limit = 1000, .work_per_step = 1e8};
  const ProgressState now{.step = 120, .limit = 1000, .work_per_step = 1e8};
  EXPECT_EQ(progress_line("heat", sweeps, before, now, 5), "heat: sweep 120 of 1000, 2.00 G cell updates/s, 44 s left");
  EXPECT_EQ(progress_line("cg", {"iteration", "flop", "residual"}, before, now, 5),
            "cg: iteration 120 of 1000, 2.00 Gflop/s, 44 s left");
}

TEST(Progress, WithoutAUnitOfWorkTheRateIsOfSteps) {
  const ProgressState before{.step = 0, .limit = 10};
  const ProgressState now{.step = 4, .limit = 10};
  EXPECT_EQ(progress_line("ring", {}, before, now, 2), "ring: iteration 4 of 10, 2.00 iterations/s, 3 s left");
}

TEST(Progress, ATargetTellsTheTimeLeft) {
  const ProgressState before{.step = 100, .limit = 100000, .norm = 1e-2, .target = 1e-6};
  const ProgressState now{.step = 200, .limit = 100000, .norm = 1e-4, .target = 1e-6};
  EXPECT_EQ(progress_line("heat", {"sweep", "", "norm"}, before, now, 10),
            "heat: sweep 200 of at most 100000, norm 1.00e-04 (to 1e-06), 10.00 sweeps/s, 10 s left");
}

TEST(Progress, NothingDoneHasNoRate) {
  const ProgressState state{.step = 3, .limit = 10, .work_per_step = 1};
  EXPECT_EQ(progress_line("heat", sweeps, state, state, 5), "heat: sweep 3 of 10");
}

TEST(Progress, OnlyRank0Shows) {
  EXPECT_EQ(Progress::style_for(1, false), Progress::Style::silent);
  EXPECT_EQ(Progress::style_for(0, true), Progress::Style::silent);
  EXPECT_NE(Progress::style_for(0, false), Progress::Style::silent);
}

} // namespace
