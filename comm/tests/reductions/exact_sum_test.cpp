// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Exact sums over ranks: the same on any number of them. Those of one process are in sums/tests.
#include "comm_test.hpp"
#include "exact_reference.hpp"

namespace kontor::comm::test {
namespace {

using namespace sums::test;
using Space = Kokkos::DefaultExecutionSpace;

/// This rank's values of all: in one of several ways, which leave some ranks without any.
Numbers part_of(const Numbers& all, const Communicator& comm, int way) {
  Numbers mine;
  const auto size = static_cast<std::size_t>(comm.size());
  const auto rank = static_cast<std::size_t>(comm.rank());
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto owner = way == 0   ? i % size
                       : way == 1 ? i * size / all.size()
                       : way == 2 ? (i < 10 ? 0 : size - 1)
                                  : (i * i + i / 7) % size;
    if (owner == rank) mine.push_back(all[i]);
  }
  return mine;
}

auto in_kernel_memory(const Numbers& values) {
  const Doubles host("host", values.size());
  std::copy(values.begin(), values.end(), host.data());
  return Kokkos::create_mirror_view_and_copy(Space::memory_space(), host);
}

struct SumAndSquare {
  Kokkos::View<double*, Space::memory_space> x;
  KOKKOS_INLINE_FUNCTION Kokkos::Array<double, 2> operator()(std::int64_t i) const { return {x(i), x(i) * x(i)}; }
};
struct Table {
  Kokkos::View<double*, Space::memory_space> x;
  std::int64_t length;
  KOKKOS_INLINE_FUNCTION double operator()(std::int64_t row, std::int64_t i) const { return x(row * length + i); }
};

void expect_results(const ExactSums<>& sums, const Numbers& expected, const char* what) {
  const auto found = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), sums.results());
  for (std::size_t k = 0; k < expected.size(); ++k)
    EXPECT_EQ(bits(found(k)), bits(expected[k])) << what << ", sum " << k;
}

TEST(ExactSums, AreTheSameOnAnyNumberOfRanks) {
  const Communicator comm(MPI_COMM_WORLD);
  const Space instance;
  const auto x = random_values(6007, -70, 20, 1), y = random_values(6007, -40, 90, 2);
  Numbers products, squares;
  for (std::size_t i = 0; i < x.size(); ++i) {
    products.push_back(x[i] * y[i]);
    squares.push_back(x[i] * x[i]);
  }
  const double dot = reference(products), sum = reference(x);
  ExactSums<> sums(comm, "dots", 5);
  for (int way = 0; way < 4; ++way) {
    const auto my_x = in_kernel_memory(part_of(x, comm, way));
    const auto my_y = in_kernel_memory(part_of(y, comm, way));
    const auto n = static_cast<std::int64_t>(my_x.extent(0));
    sums.add_dot(instance, 0, my_x, my_y);
    sums.add_sum(instance, 1, my_x);
    sums.add<2>(instance, 2, n, SumAndSquare{my_x});
    sums.add_rows(instance, 4, n / 7, 7, Table{my_x, 7});
    const auto rest = Kokkos::subview(my_x, std::pair(n / 7 * 7, n));
    sums.add_sum(instance, 4, rest);
    sums.start(instance);
    sums.add_sum(instance, 3, my_y); // for the next time
    sums.progress();
    sums.finish(instance);
    expect_results(sums, {dot, sum, sum, reference(squares), sum}, "first");
    sums.start(instance);
    sums.finish(instance);
    expect_results(sums, {0, 0, 0, reference(y), 0}, "second");
    sums.add_sum(instance, 1, my_y);
    sums.clear(instance);
  }
}

TEST(ExactSums, OfFloats) {
  const Communicator comm(MPI_COMM_WORLD);
  const Space instance;
  const Kokkos::View<float*, Space::memory_space> x("x", 3);
  Kokkos::deep_copy(x, 0x1.000002p100f);
  ExactSums<> sums(comm, "floats", 1);
  sums.add_dot(instance, 0, x, x);
  sums.start(instance);
  sums.finish(instance);
  expect_results(sums, {3.0 * comm.size() * (0x1.000002p100 * 0x1.000002p100)}, "products in double");
}

// nvcc takes no lambdas for kernels in a test's body.
struct TwoZeros {
  KOKKOS_FUNCTION Kokkos::Array<double, 2> operator()(std::int64_t) const { return {}; }
};
struct One {
  KOKKOS_FUNCTION double operator()(std::int64_t, std::int64_t) const { return 1; }
};

TEST(ExactSums, Misuse) {
  const Communicator comm(MPI_COMM_WORLD);
  const Space instance;
  const Kokkos::View<double*, Space::memory_space> two("two", 2), three("three", 3);
  ExactSums<> sums(comm, "dots", 2);
  const auto expect = [](const auto& call, std::initializer_list<std::string> facts) {
    expect_error<CallError>(call, facts);
  };
  expect([&] { sums.finish(instance); }, {"'dots': finish() without start()"});
  sums.start(instance);
  expect([&] { sums.start(instance); }, {"'dots': start() again before finish()"});
  sums.finish(instance);
  expect([&] { sums.add_sum(instance, 2, two); }, {"'dots'", "there are 2"});
  expect([&] { sums.add_sum(instance, -1, two); }, {"sum -1"});
  expect([&] { sums.add<2>(instance, 1, 1, TwoZeros()); }, {"for 2 from sum 1"});
  expect([&] { sums.add_rows(instance, 0, 1, -3, One()); }, {"-3 values"});
  expect([&] { ExactSums<>(comm, "none", -1); }, {"'none': -1 sums"});
  expect([&] { sums.add_dot(instance, 0, two, three); }, {"'two' (2)", "'three' (3)"});
  const auto moved = std::move(sums);
  expect([&] { sums.add_sum(instance, 0, two); }, {"moved from"}); // NOLINT: defined
  const int last = comm.size() - 1;
  if (last > 0)
    expect_error<AgreedError>([&] { ExactSums<>(comm, "dots", comm.rank() == last ? 3 : 2); },
                              {"'dots'", "(112)", "(168)"});
}

} // namespace
} // namespace kontor::comm::test
