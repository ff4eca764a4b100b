// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A step allocates nothing, but for the names of kernels that Kokkos makes where it launches them; what MPI does inside
// its calls is its own.
#include "allocation_counter.hpp"
#include "matmul/kernels/local_product.hpp"
#include "run_product.hpp"

// The calls of a step; MPI_Isend is in verification_test.cpp.
#define NOT_COUNTED(name, parameters, arguments)                                                                       \
  int MPI_##name parameters {                                                                                          \
    const kontor::comm::test::NotCounted inside_mpi;                                                                   \
    return PMPI_##name arguments;                                                                                      \
  }
extern "C" {
NOT_COUNTED(Irecv, (void* b, int n, MPI_Datatype t, int p, int g, MPI_Comm c, MPI_Request* r), (b, n, t, p, g, c, r))
NOT_COUNTED(Waitall, (int n, MPI_Request r[], MPI_Status s[]), (n, r, s))
NOT_COUNTED(Barrier, (MPI_Comm c), (c))
NOT_COUNTED(Allreduce, (const void* b, void* to, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c), (b, to, n, t, o, c))
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
int allocations_of_a_product(const Product& p) {
  const miniapp::Matrix<double> a("test/a", 3, 3), b("test/b", 3, 3), c("test/c", 3, 3);
  const auto multiply = [&] { LocalProduct<double>(p).add(a, b, c); };
  multiply();
  return allocations_of(multiply);
}

TEST(Allocation, NothingIsAllocatedInAStep) {
  using Policy = Kokkos::RangePolicy<Space, Kokkos::IndexType<std::int64_t>>;
  if (allocations_of([] { static_cast<void>(Policy(0, 1)); }) > 0)
    GTEST_SKIP() << "this Kokkos allocates for every kernel";
  for (const bool overlap : {true, false})
    for (const auto& grid : grids(world().size())) {
      auto o = on_grid(integers(), grid);
      o.gemm = Gemm::plain; // OpenBLAS takes memory for some small products
      App<> made(o, overlap);
      SCOPED_TRACE(testing::Message() << grid.rows << " x " << grid.columns << " ranks, overlap " << overlap);
      EXPECT_EQ(allocations_of_steps(made.app, Pass::transfers), 0);
      const auto before = made.timers["gemm"].calls;
      const int of_steps = allocations_of_steps(made.app, Pass::whole);
      const auto products = (made.timers["gemm"].calls - before) / 2; // of one of two runs
      EXPECT_GT(products, 0);
      EXPECT_EQ(of_steps, products * allocations_of_a_product(o));
    }
}

} // namespace
} // namespace kontor::matmul::test
