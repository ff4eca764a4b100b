// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine/blas.hpp"
#include "machine/gemm.hpp"

#include <kontor/comm/kokkos/compat.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <future>
#include <sched.h>
#include <set>
#include <thread>

namespace {

using namespace kontor;
using namespace kontor::miniapp;

/// Small integers, so that products are exact.
template <class T>
Matrix<T> numbers(int rows, int columns, int seed) {
  const Matrix<T> matrix("test/matrix", rows, columns);
  const auto host = Kokkos::create_mirror_view(matrix);
  for (int j = 0; j < columns; ++j)
    for (int i = 0; i < rows; ++i) host(i, j) = static_cast<T>((7 * i + 5 * j + seed) % 11 - 5);
  Kokkos::deep_copy(matrix, host);
  return matrix;
}

template <class T>
class Gemm : public testing::Test {};
using Precisions = testing::Types<float, double>;
TYPED_TEST_SUITE(Gemm, Precisions);

TYPED_TEST(Gemm, IsTheProduct) {
  using T = TypeParam;
  const int m = 17, n = 5, k = 23;
  const auto a = numbers<T>(m, k, 1), b = numbers<T>(k, n, 2), c = numbers<T>(m, n, 3);
  const auto before = Kokkos::create_mirror(c);
  Kokkos::deep_copy(before, c);
  gemm<T>({}, T(2), a, b, T(-3), c);
  Kokkos::fence();
  const auto ah = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), a);
  const auto bh = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), b);
  const auto ch = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), c);
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      T sum = 0;
      for (int l = 0; l < k; ++l) sum += ah(i, l) * bh(l, j);
      EXPECT_EQ(ch(i, j), 2 * sum - 3 * before(i, j)) << i << ", " << j;
    }
}

TYPED_TEST(Gemm, RateIsOfAllRanks) {
  const comm::Communicator comm(MPI_COMM_WORLD);
  CalibrationRequest request;
  request.gemm = gemm_request<TypeParam>({64, 48, 32});
  const auto rate = request.gemm(comm);
  EXPECT_EQ(rate.block.m, 64);
  EXPECT_EQ(rate.block.n, 48);
  EXPECT_EQ(rate.block.k, 32);
  EXPECT_EQ(rate.precision, sizeof(TypeParam) == 4 ? "float" : "double");
  EXPECT_TRUE(std::isfinite(rate.rate));
  EXPECT_GT(rate.rate, 1e6);
  EXPECT_FALSE(rate.library.empty());
}

cpu_set_t cpus_of(int thread) {
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  ::sched_getaffinity(thread, sizeof cpus, &cpus);
  return cpus;
}

std::set<int> threads() {
  std::set<int> found;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task"))
    found.insert(std::atoi(task.path().filename().c_str()));
  return found;
}

/// OpenMP binds the first thread to a core of its own, and threads of OpenBLAS are not to crowd there.
TEST(Blas, ThreadsMayRunWhereAnyThreadOfTheProcessMay) {
  const auto all = cpus_of(0);
  if (CPU_COUNT(&all) < 2) GTEST_SKIP() << "one CPU";
  std::promise<void> end;
  std::jthread other([&] { end.get_future().wait(); }); // may run on all of them
  cpu_set_t first;
  CPU_ZERO(&first);
  for (int cpu = 0; CPU_COUNT(&first) == 0; ++cpu)
    if (CPU_ISSET(cpu, &all)) CPU_SET(cpu, &first);
  ASSERT_EQ(::sched_setaffinity(0, sizeof first, &first), 0);
  const auto before = threads();
  set_blas_threads(2);
  const auto own = cpus_of(0);
  std::set<int> created;
  for (const int thread : threads())
    if (!before.contains(thread)) created.insert(thread);
  for (const int thread : created) {
    const auto cpus = cpus_of(thread);
    EXPECT_TRUE(CPU_EQUAL(&cpus, &all));
  }
  EXPECT_TRUE(CPU_EQUAL(&own, &first));
  set_blas_threads(1);
  ::sched_setaffinity(0, sizeof all, &all);
  end.set_value();
  if (created.empty()) GTEST_SKIP() << host_blas().name << " has started no thread";
}

} // namespace
