// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <kontor/comm/error.hpp>
#include <kontor/comm/mpi_check.hpp>

#include <gtest/gtest.h>

#include <cstdio>
#include <exception>
#include <unistd.h>

namespace kontor::comm::test {
namespace {

[[noreturn]] void tell() {
  try {
    std::rethrow_exception(std::current_exception());
  } catch (const Error& error) {
    std::fprintf(stderr, "told: %s\n", error.what());
    ::_exit(7);
  }
}

struct Closes {
  ~Closes() { mpi::check_or_terminate(code, "MPI_Barrier"); }
  int code;
};

TEST(CheckOrTerminate, GoesOnAfterSuccess) { const Closes closes{MPI_SUCCESS}; }

TEST(CheckOrTerminate, ShowsTheHandlerWhatFailed) {
  const auto closes_in_vain = [] {
    std::set_terminate(tell);
    const Closes closes{MPI_ERR_OTHER};
  };
  EXPECT_EXIT(closes_in_vain(), testing::ExitedWithCode(7), "told: MPI_Barrier failed");
}

} // namespace
} // namespace kontor::comm::test
