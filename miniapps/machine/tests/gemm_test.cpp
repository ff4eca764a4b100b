// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine/blas.hpp"
#include "machine/gemm.hpp"
#include "tasks.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <dlfcn.h>
#include <thread>

namespace {

using namespace kontor;
using namespace kontor::miniapp;
using namespace kontor::miniapp::test;

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
  using T = TypeParam;
  const auto a = numbers<T>(64, 32, 1), b = numbers<T>(32, 48, 2), c = numbers<T>(64, 48, 3);
  const auto rate = gemm_rate<T>(comm, {}, a, b, c, 1);
  EXPECT_EQ(rate.block.m, 64);
  EXPECT_EQ(rate.block.n, 48);
  EXPECT_EQ(rate.block.k, 32);
  EXPECT_EQ(rate.precision, sizeof(TypeParam) == 4 ? "float" : "double");
  EXPECT_TRUE(std::isfinite(rate.rate));
  EXPECT_GT(rate.rate, 1e6);
  EXPECT_FALSE(rate.library.empty());
}

TEST(Halved, IsTheLongestEdgeOfABlock) {
  const auto block = halved({.m = 100, .n = 401, .k = 200}, 4); // n, n, k, n
  EXPECT_EQ(block.m, 100);
  EXPECT_EQ(block.n, 51);
  EXPECT_EQ(block.k, 100);
  EXPECT_EQ(halved(block, 0).n, 51);
  EXPECT_EQ(halved({.m = 0, .n = 0, .k = 0}, 3).k, 0);
}

TEST(BlasThreads, MayRunWhereverTheProcessMay) {
  const auto all = cores_of_task(0);
  std::atomic<bool> done{false};
  std::thread other([&] { // not bound, as the threads of an OpenMP library together are not
    while (!done) std::this_thread::yield();
  });
  const auto before = tasks();
  {
    const BoundToOneCore bound;
    set_blas_threads(static_cast<int>(before.size()) + 8); // more than there can be already
    EXPECT_EQ(cores_of_task(0).size(), 1U);
  }
  const auto after = tasks();
  for (const int task : after)
    if (!before.contains(task)) {
      EXPECT_EQ(cores_of_task(task), all);
    }
  const auto kind = reinterpret_cast<int (*)()>(::dlsym(RTLD_DEFAULT, "openblas_get_parallel"));
  constexpr int own_threads = 1; // not those of OpenMP, or none
  if (kind != nullptr && kind() == own_threads) {
    EXPECT_GT(after.size(), before.size());
  }
  set_blas_threads(1);
  done = true;
  other.join();
}

} // namespace
