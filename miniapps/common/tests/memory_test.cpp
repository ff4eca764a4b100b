// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "common/memory.hpp"

#include <kontor/comm/error.hpp>

#include <Kokkos_Core.hpp>
#include <gtest/gtest.h>

#include <new>

namespace {

using namespace kontor;
using namespace kontor::miniapp;
using testing::internal::RE;

constexpr double giga = 1e9;

std::string refusal(const comm::Communicator& comm, double bytes) {
  try {
    require_memory(comm, {{"test/u", bytes}, {"test/v", 2 * bytes}});
  } catch (const comm::AgreedError& error) {
    return error.what();
  }
  return "";
}

TEST(Memory, WhatFitsIsNotRefused) {
  EXPECT_EQ(refusal(comm::Communicator(MPI_COMM_WORLD), 1000), "");
}

TEST(Memory, WhatDoesNotFitIsRefusedOnEveryRank) {
  const comm::Communicator comm(MPI_COMM_WORLD);
  if (free_host_memory() > 1e18) GTEST_SKIP() << "nobody says what is free here";
  const auto text = refusal(comm, 1e9 * giga);
  EXPECT_TRUE(
      RE::PartialMatch(text, RE("^out of memory: rank 0 on .* needs 1e\\+09 GB for View 'test/u', 2e\\+09 GB "
                                "for View 'test/v'.*, but its .* has .* GB free of .* GB; the Views of all "
                                "ranks take [39]e\\+09 GB, which fit on [0-9]* such ")))
      << text;
}

TEST(Memory, OneRankIsEnough) {
  const comm::Communicator comm(MPI_COMM_WORLD);
  if (comm.size() == 1 || free_host_memory() > 1e18) GTEST_SKIP();
  EXPECT_NE(refusal(comm, comm.rank() == 1 ? 1e9 * giga : 8), "");
}

TEST(Memory, FailedAllocationsAreRecognised) {
  EXPECT_EQ(out_of_memory(std::runtime_error("no")), "");
  EXPECT_EQ(out_of_memory(std::bad_alloc()).find("out of memory: std::bad_alloc; the "), 0U);
  std::string text;
  try {
    const Kokkos::View<double*> view("test/large", std::size_t{1} << 47);
  } catch (const std::exception& error) {
    text = out_of_memory(error);
  }
  EXPECT_EQ(text.find("out of memory: Kokkos"), 0U) << text;
  EXPECT_NE(text.find("\"test/large\""), std::string::npos) << text;
  EXPECT_NE(text.find("GB free of"), std::string::npos) << text;
}

} // namespace
