// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "run/checkpoint/checkpoint_options.hpp"
#include "run/loop/stop_request.hpp"

#include <kontor/comm/reductions.hpp>
#include <kontor/config/error.hpp>

#include <gtest/gtest.h>

#include <csignal>
#include <string>

namespace {

using namespace kontor;
using namespace kontor::miniapp;

TEST(StopRequest, WhatIsDueOnOneRankAllDo) {
  const comm::Communicator comm(MPI_COMM_WORLD);
  StopRequest end(comm);
  auto due_action = DueAction::nothing;
  end.set_due_action([&] { return due_action; });
  EXPECT_FALSE(end.ask());
  EXPECT_FALSE(end.wants_checkpoint());
  if (comm.rank() == comm.size() - 1) due_action = DueAction::checkpoint;
  EXPECT_FALSE(end.ask());
  EXPECT_TRUE(end.wants_checkpoint());
  end.forget_checkpoint();
  EXPECT_FALSE(end.wants_checkpoint());
  if (comm.rank() == comm.size() - 1) due_action = DueAction::end;
  EXPECT_TRUE(end.ask());
  EXPECT_EQ(end.signal(), "walltime");
}

TEST(StopRequest, WhatOneRankIsToldAllAgreeOnAtTheSameCall) {
  const comm::Communicator comm(MPI_COMM_WORLD);
  catch_end_signals();
  StopRequest end(comm);
  EXPECT_FALSE(end.ask());
  for (int call = 0; call < 20; ++call) EXPECT_FALSE(end.agreed());
  EXPECT_EQ(end.signal(), "");

  if (comm.rank() == comm.size() - 1) std::raise(SIGUSR1);
  int calls = 0;
  while (!end.agreed()) ++calls;
  EXPECT_EQ(comm::allreduce(comm, calls, comm::ReduceOp::max), calls);
  EXPECT_EQ(comm::allreduce(comm, calls, comm::ReduceOp::min), calls);
  EXPECT_EQ(end.signal(), "USR1");
  EXPECT_TRUE(end.granted());
  EXPECT_TRUE(end.ask());
}

double walltime(const std::string& text) {
  CheckpointOptions options;
  const auto deck = config::Deck::parse("app: heat\ncheckpoint: {walltime: \"" + text + "\"}\n", "t.yaml");
  deck.read([&](config::Visitor& v) { options.describe(v); });
  EXPECT_TRUE(options.wanted());
  options.resolve(deck);
  return options.walltime_seconds;
}

TEST(Checkpoint, Walltime) {
  EXPECT_FALSE(CheckpointOptions{}.wanted());
  EXPECT_EQ(walltime("90"), 90);
  EXPECT_EQ(walltime("1:30"), 90);
  EXPECT_EQ(walltime("100:00"), 6000);
  EXPECT_EQ(walltime("24:00:01"), 86401);
  for (const char* wrong : {"0", "-5", "1:3", "1:60", "1:00:60", "1:00:00:00", "5m", ":30", "1:", "1e3", " 5"})
    EXPECT_THROW(walltime(wrong), config::Error) << wrong;
}

} // namespace
