// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "error_text.hpp"
#include "views.hpp"
#include "ways.hpp"

#include <kontor/comm/comm.hpp>

#include <gtest/gtest.h>

namespace kontor::comm::test {
namespace {

using Complex = Kokkos::complex<double>;

/// Values that differ from rank to rank, small enough for products.
template <class T>
T value_of(int rank, int i) {
  return static_cast<T>(1 + (3 * rank + 2 * i) % 5);
}

template <class T>
void expect_allreduce(ReduceOp op, MPI_Op mpi_op, MPI_Datatype type) {
  for (const auto& entry : backends()) {
    if (!entry.make) continue;
    const Communicator comm(MPI_COMM_WORLD, way(std::string(entry.name)));
    const auto field = whole<T, Kokkos::LayoutLeft>("values", Index<2>{3, 4});
    std::vector<T> expected(12);
    for (int i = 0; i < 12; ++i) expected[i] = field.memory[i] = value_of<T>(comm.rank(), i);
    const T first = expected[0];
    MPI_Allreduce(MPI_IN_PLACE, expected.data(), 12, type, mpi_op, MPI_COMM_WORLD);
    allreduce(comm, field.view, op);
    EXPECT_TRUE(equal_bits(field.memory, std::span(expected)));
    T scalar = allreduce(comm, first, op);
    EXPECT_EQ(std::memcmp(&scalar, &expected[0], sizeof(T)), 0);
  }
}

template <class T>
void expect_arithmetic(MPI_Datatype type) {
  expect_allreduce<T>(ReduceOp::sum, MPI_SUM, type);
  expect_allreduce<T>(ReduceOp::product, MPI_PROD, type);
  if constexpr (std::is_arithmetic_v<T>) {
    expect_allreduce<T>(ReduceOp::min, MPI_MIN, type);
    expect_allreduce<T>(ReduceOp::max, MPI_MAX, type);
  }
}

TEST(Allreduce, Int) {
  expect_arithmetic<int>(MPI_INT);
}
TEST(Allreduce, Float) {
  expect_arithmetic<float>(MPI_FLOAT);
}
TEST(Allreduce, Double) {
  expect_arithmetic<double>(MPI_DOUBLE);
}
TEST(Allreduce, Complex) {
  expect_arithmetic<Complex>(MPI_C_DOUBLE_COMPLEX);
}

/// Every integer size, signed and not: the largest value tells them apart.
template <class T>
void expect_limits(const Communicator& comm) {
  const T most = std::numeric_limits<T>::max();
  const bool last = comm.rank() == comm.size() - 1;
  EXPECT_EQ(allreduce(comm, last ? most : T(1), ReduceOp::max), most);
  EXPECT_EQ(allreduce(comm, last ? std::numeric_limits<T>::lowest() : T(1), ReduceOp::min),
            std::numeric_limits<T>::lowest());
}

TEST(Allreduce, LimitsOfEveryType) {
  const Communicator comm(MPI_COMM_WORLD);
  expect_limits<signed char>(comm);
  expect_limits<unsigned char>(comm);
  expect_limits<short>(comm);
  expect_limits<unsigned short>(comm);
  expect_limits<unsigned>(comm);
  expect_limits<long>(comm);
  expect_limits<unsigned long long>(comm);
  expect_limits<long double>(comm);
}

TEST(Allreduce, Logical) {
  const Communicator comm(MPI_COMM_WORLD);
  const bool last = comm.rank() == comm.size() - 1;
  EXPECT_EQ(allreduce(comm, last, ReduceOp::logical_or), true);
  EXPECT_EQ(allreduce(comm, false, ReduceOp::logical_or), false);
  EXPECT_EQ(allreduce(comm, !last, ReduceOp::logical_and), false);
  EXPECT_NE(allreduce(comm, 4, ReduceOp::logical_and), 0);
}

TEST(Allreduce, UndefinedOperations) {
  const Communicator comm(MPI_COMM_WORLD);
  const Kokkos::View<Complex*, Kokkos::HostSpace> view("phases", 2);
  EXPECT_EQ(text_of<UsageError>([&] { allreduce(comm, Complex(1), ReduceOp::min); }),
            "allreduce: min is not defined for complex<double>");
  EXPECT_EQ(text_of<UsageError>([&] { allreduce(comm, view, ReduceOp::max); }),
            "View 'phases': allreduce: max is not defined for complex<double>");
  EXPECT_EQ(text_of<UsageError>([&] { allreduce(comm, 1.0f, ReduceOp::logical_and); }),
            "allreduce: logical and is not defined for float");
  expect_usable(comm);
}

TEST(Allreduce, StridedViewIsRefused) {
  const Communicator comm(MPI_COMM_WORLD);
  const auto field = inside<double, Kokkos::LayoutRight>("plane", Index<2>{3, 4});
  EXPECT_EQ(text_of<UsageError>([&] { allreduce(comm, field.view, ReduceOp::sum); }),
            "allreduce: View 'plane' is not contiguous; copy it into one that is");
  EXPECT_EQ(text_of<UsageError>([&] { bcast(comm, field.view, 0); }),
            "bcast: View 'plane' is not contiguous; copy it into one that is");
  expect_usable(comm);
}

TEST(Allreduce, EmptyView) {
  const Communicator comm(MPI_COMM_WORLD);
  allreduce(comm, Kokkos::View<double**, Kokkos::HostSpace>("empty", 0, 3), ReduceOp::sum);
  expect_usable(comm);
}

template <class T>
void expect_bcast() {
  for (const auto& way : ways()) {
    const Communicator comm(MPI_COMM_WORLD, way);
    for (int root = 0; root < comm.size(); ++root) {
      const auto field = whole<T, Kokkos::LayoutRight>("values", Index<2>{3, 5});
      scramble(field.memory, static_cast<std::uint64_t>(comm.rank()));
      std::vector<T> expected(field.memory.begin(), field.memory.end());
      scramble(std::span(expected), static_cast<std::uint64_t>(root));
      bcast(comm, field.view, root);
      EXPECT_TRUE(equal_bits(field.memory, std::span(expected))) << "root " << root;
    }
  }
}

struct Pair {
  double weight;
  std::int64_t index;
};

TEST(Bcast, Double) {
  expect_bcast<double>();
}
TEST(Bcast, Complex) {
  expect_bcast<Kokkos::complex<float>>();
}
TEST(Bcast, Struct) {
  expect_bcast<Pair>();
}

/// No rank leaves before the last one comes, which takes its time.
TEST(Barrier, WaitsForAll) {
  const Communicator comm(MPI_COMM_WORLD);
  if (comm.size() == 1) return;
  int arrived = 0;
  MPI_Request request = MPI_REQUEST_NULL;
  const int last = comm.size() - 1;
  if (comm.rank() == 0) MPI_Irecv(&arrived, 1, MPI_INT, last, 0, comm.native(), &request);
  if (comm.rank() == last) {
    const int here = 1;
    MPI_Ssend(&here, 1, MPI_INT, 0, 0, comm.native());
  }
  barrier(comm);
  int done = comm.rank() != 0;
  if (!done) MPI_Test(&request, &done, MPI_STATUS_IGNORE);
  EXPECT_TRUE(done);
  if (!done) MPI_Wait(&request, MPI_STATUS_IGNORE);
}

} // namespace
} // namespace kontor::comm::test
