// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// main() of every MPI test: GoogleTest runs on all ranks, rank 0 reports, and a failure on any rank fails the run. A
// rank other than 0 stays silent until it has a failure to tell.
#include <Kokkos_Core.hpp>
#include <gtest/gtest.h>
#include <mpi.h>

#include <cstdio>

namespace {

/// Prints failed assertions only, each with the rank it happened on.
class FailuresOnly : public testing::EmptyTestEventListener {
 public:
  explicit FailuresOnly(int rank) : rank_(rank) {}

  // GoogleTest calls OnTestPartResult() under the lock that current_test_info() takes: asking there hangs.
  void OnTestStart(const testing::TestInfo& test) override { test_ = &test; }
  void OnTestEnd(const testing::TestInfo&) override { test_ = nullptr; }

  void OnTestPartResult(const testing::TestPartResult& result) override {
    if (!result.failed()) return;
    std::fprintf(stderr, "rank %d: %s.%s: %s:%d: %s\n", rank_, test_ ? test_->test_suite_name() : "",
                 test_ ? test_->name() : "", result.file_name() ? result.file_name() : "?", result.line_number(),
                 result.message());
  }

 private:
  int rank_;
  const testing::TestInfo* test_ = nullptr;
};

} // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  // MPICH 4.0 finds errors of receives in the waits, and asks this handler about them, not their communicator's.
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  testing::InitGoogleTest(&argc, argv);
  int failed = 0;
  {
    Kokkos::ScopeGuard kokkos(argc, argv);
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank != 0) {
      auto& listeners = testing::UnitTest::GetInstance()->listeners();
      delete listeners.Release(listeners.default_result_printer());
      listeners.Append(new FailuresOnly(rank));
    }
    failed = RUN_ALL_TESTS();
    MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return failed;
}
