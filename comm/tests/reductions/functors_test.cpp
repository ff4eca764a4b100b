// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reductions by functors keep the order of ranks; those of values give what one call of a View gives.
#include "collective_forms.hpp"

#include <cmath>

namespace kontor::comm::test {
namespace {

using Functors = OnRing;

/// The first n elements, combined.
Bytes affines_of_ranks(int first, int last, int n) {
  std::vector<Affine> all;
  for (int i = 0; i < n; ++i) all.push_back(affine_of_ranks(first, last, i));
  return bytes_of(all);
}

template <class Layout>
void expect_order_of_ranks() {
  const Communicator comm(MPI_COMM_WORLD);
  const auto in_field = whole<Affine, Layout>("in", Index<1>{3});
  const auto out_field = whole<Affine, Layout>("out", Index<1>{3});
  const auto& in = in_field.view;
  const auto& out = out_field.view;
  const int me = comm.rank();
  const int last = comm.size() - 1;
  const auto of_ranks = [](int first, int last) { return affines_of_ranks(first, last, 3); };
  Twins views({watched(in_field, Order::storage), watched(out_field, Order::storage)},
              [&](Watched& view, int number) { number == 0 ? view.store(of_ranks(me, me)) : view.fill(1); });
  const auto expect_of_ranks_to = [&](int last, bool gets, const Forms& forms) {
    const auto combined = [&](const Given&, void* result) {
      std::ranges::copy(of_ranks(0, last), static_cast<std::byte*>(result));
    };
    views.expect(1, gets, combined, forms);
  };
  expect_of_ranks_to(last, true, KONTOR_FORMS(allreduce, comm, in, out, then));
  expect_of_ranks_to(last, true, KONTOR_FORMS(allreduce, comm, in, out, non_commutative(then)));
  expect_of_ranks_to(me, true, KONTOR_FORMS(scan, comm, in, out, then));
  expect_of_ranks_to(me - 1, me > 0, KONTOR_FORMS(exscan, comm, in, out, then));
  for (int root = 0; root < comm.size(); ++root)
    expect_of_ranks_to(last, me == root, KONTOR_FORMS(reduce, comm, in, out, then, root));
  EXPECT_EQ(allreduce(comm, affine_of(me, 0), then), affine_of_ranks(0, last, 0));
}

TEST_F(Functors, KeepTheOrderOfRanks) {
  expect_order_of_ranks<Right>();
  expect_order_of_ranks<Stride>();
}

TEST_F(Functors, OfNumbers) {
  const auto hypot = commutative([](const double& a, const double& b) { return std::sqrt(a * a + b * b); });
  const auto in = whole<double, Left>("in", Index<2>{3, 2});
  Kokkos::deep_copy(in.view, 2);
  allreduce(comm, in.view, hypot);
  for (const double x : in.memory) EXPECT_NEAR(x, 2 * std::sqrt(comm.size()), 1e-12);
  EXPECT_EQ(allreduce(comm, 1, std::plus<>()), comm.size());
  EXPECT_EQ(exscan(comm, 1, std::plus<int>()), comm.rank());
  // A lambda that copies what it captures has no default constructor, even if it captures nothing.
  EXPECT_EQ(allreduce(comm, comm.rank(), [=](int a, int b) { return a > b ? a : b; }), comm.size() - 1);
  const Located<double> mine{static_cast<double>((comm.rank() + 1) % 3), comm.rank()};
  const auto least = allreduce(comm, mine, min_loc);
  const auto greatest = allreduce(comm, mine, max_loc);
  EXPECT_EQ(least.value, comm.size() > 2 ? 0 : 1);
  EXPECT_EQ(least.place, comm.size() > 2 ? 2 : 0);
  EXPECT_EQ(greatest.value, comm.size() > 1 ? 2 : 1);
  EXPECT_EQ(greatest.place, comm.size() > 1 ? 1 : 0);
}

/// The non-blocking reductions of a value give what the blocking ones give, at every check level.
template <class T, class Op>
void expect_value_requests(const T& value, const Op& op) {
  with_levels(levels_with_checks, [&](const Communicator& comm) {
    EXPECT_EQ(iallreduce(comm, value, op).wait(), allreduce(comm, value, op));
    EXPECT_EQ(iscan(comm, value, op).wait(), scan(comm, value, op));
    EXPECT_EQ(iexscan(comm, value, op).wait(), exscan(comm, value, op));
    for (int root = 0; root < comm.size(); ++root) {
      const auto all = allreduce(comm, value, op);
      const auto expected = comm.rank() == root ? all : value;
      EXPECT_EQ(reduce(comm, value, op, root), expected);
      EXPECT_EQ(ireduce(comm, value, op, root).wait(), expected);
    }
  });
}

TEST(Values, Nonblocking) {
  const Communicator comm(MPI_COMM_WORLD);
  expect_value_requests(0.5 * (comm.rank() + 1), ReduceOp::sum);
  expect_value_requests(comm.rank(), ReduceOp::max);
  expect_value_requests(affine_of(comm.rank(), 0), then);
  expect_value_requests(std::array<int, 3>{1, comm.rank(), -comm.rank()}, ReduceOp::sum);
}

/// Several at once, that are moved while they are under way.
TEST(Values, SeveralAtOnceAndArrays) {
  const Communicator comm(MPI_COMM_WORLD);
  std::vector<Request<Value<int>>> pool;
  for (int i = 0; i < 20; ++i) pool.push_back(iallreduce(comm, i, ReduceOp::sum));
  wait_all(pool);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(pool[i].wait(), i * comm.size());
  auto one = iallreduce(comm, 1.0, ReduceOp::sum);
  std::optional<double> result;
  while (!result) result = one.test();
  EXPECT_EQ(*result, comm.size());
  (void)iallreduce(comm, 1.0, ReduceOp::sum); // goes on by itself
  // By name, and by a functor of two numbers, element by element; by a functor of two arrays, as a whole.
  const int n = comm.size();
  using Three = std::array<double, 3>;
  const Three mine{1, 2.0 * comm.rank(), -1};
  EXPECT_EQ(allreduce(comm, mine, ReduceOp::sum), (Three{1.0 * n, 1.0 * n * (n - 1), -1.0 * n}));
  EXPECT_EQ(allreduce(comm, mine, ReduceOp::max), (Three{1, 2.0 * (n - 1), -1}));
  EXPECT_EQ(allreduce(comm, mine, [](double a, double b) { return a + b; }),
            (Three{1.0 * n, 1.0 * n * (n - 1), -1.0 * n}));
  const auto longer = [](const Three& a, const Three& b) { return b[1] > a[1] ? b : a; };
  EXPECT_EQ(allreduce(comm, mine, longer), (Three{1, 2.0 * (n - 1), -1}));
  EXPECT_EQ(exscan(comm, mine, ReduceOp::sum)[0], comm.rank());
  const auto sums = allreduce(comm, Kokkos::Array<int, 2>{{1, comm.rank()}}, ReduceOp::sum);
  EXPECT_EQ(sums[0], n);
  EXPECT_EQ(sums[1], n * (n - 1) / 2);
  EXPECT_EQ(text_of<CallError>([&] { allreduce(comm, std::array<Affine, 2>{}, ReduceOp::sum); }),
            "allreduce of a value, (2) 16-byte struct, sum: sum is not defined for 16-byte struct; a functor can "
            "say what it is");
}

} // namespace
} // namespace kontor::comm::test
