// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "run/start/guard.hpp"

#include <kontor/comm/error.hpp>

#include <gtest/gtest.h>
#include <mpi.h>

#include <cstdlib>
#include <stdexcept>
#include <unistd.h>

namespace kontor::miniapp::test {
namespace {

/// As one that waits for a kernel, which waits for another rank.
struct NeverDestroyed {
  ~NeverDestroyed() {
    for (;;) ::pause();
  }
};

/// Ends the program, so CTest runs it by itself, as the next one: miniapp_run/part_fails.
TEST(Guard, DISABLED_PartOfTheRanksAgrees) {
  const auto part_agrees = [] {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank > 0) throw comm::AgreedError("two of three agree");
    MPI_Barrier(MPI_COMM_WORLD);
    return 0;
  };
  std::exit(guarded(part_agrees, 0.5));
}

/// miniapp_run/one_rank_fails.
TEST(Guard, DISABLED_OneRankFails) {
  std::exit(guarded([] {
    const NeverDestroyed kernel;
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 1) throw std::runtime_error("it fails alone");
    MPI_Barrier(MPI_COMM_WORLD);
    return 0;
  }));
}

} // namespace
} // namespace kontor::miniapp::test
