// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A step allocates nothing, but for the names of kernels that Kokkos makes where it launches them; what MPI
// does inside its calls is its own.
#include "allocation_counter.hpp"
#include "matmul/kernels/local_product.hpp"
#include "run_product.hpp"

#include <gtest/gtest.h>
#include <mpi.h>

// The calls of a step; MPI_Isend is in verification_test.cpp.
extern "C" {
int MPI_Irecv(void* data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
              MPI_Request* request) {
  const kontor::comm::test::NotCounted inside_mpi;
  return PMPI_Irecv(data, count, type, from, tag, comm, request);
}
int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[]) {
  const kontor::comm::test::NotCounted inside_mpi;
  return PMPI_Waitall(count, requests, statuses);
}
int MPI_Ibcast(void* data, int count, MPI_Datatype type, int root, MPI_Comm comm, MPI_Request* request) {
  const kontor::comm::test::NotCounted inside_mpi;
  return PMPI_Ibcast(data, count, type, root, comm, request);
}
int MPI_Barrier(MPI_Comm comm) {
  const kontor::comm::test::NotCounted inside_mpi;
  return PMPI_Barrier(comm);
}
int MPI_Allreduce(const void* mine, void* all, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  const kontor::comm::test::NotCounted inside_mpi;
  return PMPI_Allreduce(mine, all, count, type, op, comm);
}
int MPI_Wait(MPI_Request* request, MPI_Status* status) {
  const kontor::comm::test::NotCounted inside_mpi;
  return PMPI_Wait(request, status);
}
}

namespace kontor::matmul::test {
namespace {

template <class Work>
int allocations_of(const Work& work) {
  comm::test::start_counting_allocations();
  work();
  return comm::test::stop_counting_allocations();
}

/// Of the second run: the first one may set things up.
int allocations_of_steps(Matmul<double>& app, Pass pass) {
  app.seconds_of_pass(pass);
  app.reset();
  return allocations_of([&] { app.seconds_of_pass(pass); });
}

/// The name of its region.
int allocations_of_a_gemm(const miniapp::GemmForm& form) {
  const miniapp::Matrix<double> a("test/a", 3, 3), b("test/b", 3, 3), c("test/c", 3, 3);
  const auto multiply = [&] { miniapp::gemm<double>(form, 1, a, b, 0, c); };
  multiply();
  return allocations_of(multiply);
}

TEST(Allocation, NothingIsAllocatedInAStep) {
  using Policy = Kokkos::RangePolicy<Space, Kokkos::IndexType<std::int64_t>>;
  if (allocations_of([] { static_cast<void>(Policy(0, 1)); }) > 0)
    GTEST_SKIP() << "this Kokkos allocates for every kernel";
  for (const auto algorithm : {Algorithm::cannon, Algorithm::summa})
    for (const bool overlap : {true, false})
      for (const auto& grid : grids(world().size(), 1)) {
        auto o = on_grid(integers(), grid);
        o.algorithm = algorithm;
        if (algorithm == Algorithm::summa) {
          o.panel = 2;
          o.b.operation = Operation::transpose; // whole columns: panels are copied without a kernel
        }
        o.gemm = Gemm::kokkos_kernels; // OpenBLAS takes memory for some small products
        App<> made(o, overlap);
        SCOPED_TRACE(testing::Message() << "algorithm " << int(algorithm) << ", " << grid.rows << " x "
                                        << grid.columns << " ranks, overlap " << overlap);
        EXPECT_EQ(allocations_of_steps(made.app, Pass::transfers), 0);
        const auto before = made.timers["gemm"].calls;
        const int of_steps = allocations_of_steps(made.app, Pass::whole);
        const auto products = (made.timers["gemm"].calls - before) / 2; // of one of two runs
        EXPECT_GT(products, 0);
        EXPECT_EQ(of_steps, products * allocations_of_a_gemm(gemm_form(o)));
      }
}

} // namespace
} // namespace kontor::matmul::test
