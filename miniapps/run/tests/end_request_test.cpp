// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "run/end_request.hpp"

#include <kontor/comm/collectives/reductions.hpp>

#include <gtest/gtest.h>

#include <csignal>

namespace {

using namespace kontor;
using namespace kontor::miniapp;

TEST(EndRequest, WhatOneRankIsToldAllAgreeOnAtTheSameCall) {
  const comm::Communicator comm(MPI_COMM_WORLD);
  catch_end_signals();
  EndRequest end(comm);
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

} // namespace
