// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reductions by name and by functors give what MPI's give, in every form; those of values and their limits.
#include "collective_forms.hpp"

#include <cmath>

namespace kontor::comm::test {
namespace {

using Functors = OnRing;
using Complex = Kokkos::complex<double>;

template <class Number, class T, class Layout, class Op>
void expect_reductions(const Communicator& comm, const TwinOp<Op>& twin) {
  HostViews host;
  for (const std::size_t rows : {3, 0})
    expect_reductions<Number>(comm, host, whole<T, Layout>("in", Index<2>{rows, 4}),
                              whole<T, Layout>("out", Index<2>{rows, 4}), twin);
  expect_reductions<Number>(comm, host, inside<T, Layout>("in", Index<2>{3, 4}),
                            inside<T, Layout>("out", Index<2>{3, 4}), twin);
}

/// x -> a x + b. Applying one after the other is associative, and the order matters.
struct Affine {
  std::int64_t a;
  std::int64_t b;
  bool operator==(const Affine&) const = default;
};
constexpr auto then = [](const Affine& f, const Affine& g) {
  return Affine{f.a * g.a % 10007, (g.a * f.b + g.b) % 10007};
};
void mpi_then(void* in, void* in_out, int* n, MPI_Datatype*) {
  for (int i = 0; i < *n; ++i) {
    auto& g = static_cast<Affine*>(in_out)[i];
    g = then(static_cast<Affine*>(in)[i], g);
  }
}

/// Of Views in one piece and of strided ones; functors keep the order of ranks. How Views of other ranks and layouts
/// are lent to operations, tests of EqualParts show.
TEST(Reductions, OfEveryKind) {
  MPI_Op mpi_op = MPI_OP_NULL;
  MPI_Datatype pair = MPI_DATATYPE_NULL;
  MPI_Op_create(mpi_then, 0, &mpi_op);
  MPI_Type_contiguous(2, MPI_INT64_T, &pair);
  MPI_Type_commit(&pair);
  with_levels(levels_with_checks, [&](const Communicator& comm) {
    expect_reductions<double, double, Left>(comm, TwinOp{ReduceOp::sum, MPI_SUM, MPI_DOUBLE});
    expect_reductions<std::int64_t, Affine, Right>(comm, TwinOp{then, mpi_op, pair});
  });
  const Communicator comm(MPI_COMM_WORLD);
  const Affine mine{2 + comm.rank(), 3}, first{2, 3};
  auto all = first;
  for (int r = 1; r < comm.size(); ++r) all = then(all, {2 + r, 3});
  EXPECT_EQ(allreduce(comm, mine, then), all);
  MPI_Type_free(&pair);
  MPI_Op_free(&mpi_op);
}

TEST_F(Functors, OfNumbers) {
  const auto hypot = commutative([](const double& a, const double& b) { return std::sqrt(a * a + b * b); });
  const auto in = whole<double, Left>("in", Index<2>{3, 2});
  Kokkos::deep_copy(in.view, 2);
  allreduce(comm, in.view, hypot);
  for (const double x : in.memory) EXPECT_NEAR(x, 2 * std::sqrt(ranks), 1e-12);
  EXPECT_EQ(allreduce(comm, 1, std::plus<>()), ranks);
  EXPECT_EQ(exscan(comm, 1, std::plus<int>()), rank);
  // A lambda that copies what it captures has no default constructor, even if it captures nothing.
  EXPECT_EQ(allreduce(comm, rank, [=](int a, int b) { return a > b ? a : b; }), last);
  const Located<double> mine{static_cast<double>((rank + 1) % 3), rank};
  using Found = std::pair<double, std::int64_t>;
  const auto least = allreduce(comm, mine, min_loc);
  const auto greatest = allreduce(comm, mine, max_loc);
  EXPECT_EQ(Found(least.value, least.place), ranks > 2 ? Found(0, 2) : Found(1, 0));
  EXPECT_EQ(Found(greatest.value, greatest.place), ranks > 1 ? Found(2, 1) : Found(1, 0));
}

/// Reductions of a value give what one call of a View gives, blocking or not, at every check level.
template <class T, class Op>
void expect_value(const T& value, const Op& op) {
  with_levels(levels_with_checks, [&](const Communicator& comm) {
    const HostView<T*> in("in", 1), out("out", 1);
    const auto expect = [&](const auto& now, const auto& later, const auto& of_view, bool gets, auto... root) {
      in(0) = value;
      out(0) = value;
      of_view(comm, in, out, op, root...);
      const auto expected = now(comm, value, op, root...);
      EXPECT_EQ(later(comm, value, op, root...).wait(), expected);
      EXPECT_TRUE(expected == out(0) || !gets);
    };
    expect(allreduce, iallreduce, allreduce, true);
    expect(scan, iscan, scan, true);
    expect(exscan, iexscan, exscan, comm.rank() > 0);
    for (int root = 0; root < comm.size(); ++root) expect(reduce, ireduce, reduce, true, root);
  });
}

TEST(Values, Reduced) {
  const Communicator comm(MPI_COMM_WORLD);
  expect_value(0.5 * (comm.rank() + 1), ReduceOp::sum);
  expect_value(Affine{comm.rank() + 2, 1}, then);
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
  const Three mine{1, 2.0 * comm.rank(), -1}, sums{1.0 * n, 1.0 * n * (n - 1), -1.0 * n}, most{1, 2.0 * (n - 1), -1};
  EXPECT_EQ(allreduce(comm, mine, ReduceOp::sum), sums);
  EXPECT_EQ(allreduce(comm, mine, ReduceOp::max), most);
  EXPECT_EQ(allreduce(comm, mine, [](double a, double b) { return a + b; }), sums);
  EXPECT_EQ(allreduce(comm, mine, [](const Three& a, const Three& b) { return b[1] > a[1] ? b : a; }), most);
  EXPECT_EQ(exscan(comm, mine, ReduceOp::sum)[0], comm.rank());
  EXPECT_EQ(allreduce(comm, Kokkos::Array<int, 2>{{1, comm.rank()}}, ReduceOp::sum)[1], n * (n - 1) / 2);
  EXPECT_EQ(text_of<CallError>([&] { allreduce(comm, std::array<Affine, 2>{}, ReduceOp::sum); }),
            "allreduce of a value, (2) 16-byte struct, sum: sum is not defined for 16-byte struct; a functor can "
            "say what it is");
}

using Ops = std::vector<std::pair<ReduceOp, MPI_Op>>;

/// By every backend, as an allreduce, a Reduction and of values.
template <class T>
void expect_ops(MPI_Datatype type, const Ops& ops) {
  for (const auto& entry : backends()) {
    if (!entry.make || entry.name == "nccl" || entry.name == "ipc") continue; // see tests of devices
    SCOPED_TRACE(std::string(entry.name));
    const Communicator comm(MPI_COMM_WORLD, method(std::string(entry.name)));
    const HostView<T*> in("in", 3), out("out", 3);
    for (const auto& [op, mpi_op] : ops) {
      SCOPED_TRACE(to_string(op));
      for (int i = 0; i < 3; ++i) in(i) = static_cast<T>(1 + (comm.rank() + i) % 3);
      T expected[3];
      MPI_Allreduce(in.data(), expected, 3, type, mpi_op, comm.native());
      allreduce(comm, in, out, op);
      Reduction reduction(comm, "ops", in, op);
      EXPECT_FALSE(reduction.stream_ordered());
      EXPECT_EQ(allreduce(comm, in(1), op), expected[1]);
      run_step(reduction);
      for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(out(i), expected[i]);
        EXPECT_EQ(in(i), expected[i]);
      }
    }
  }
}

/// Which of them MPI has for each kind of number.
TEST(Reductions, OperationsOfEachKindOfNumber) {
  const Ops of_all{{ReduceOp::sum, MPI_SUM}, {ReduceOp::product, MPI_PROD}},
      of_ordered{{ReduceOp::min, MPI_MIN}, {ReduceOp::max, MPI_MAX}},
      of_integers{{ReduceOp::logical_and, MPI_LAND}, {ReduceOp::logical_or, MPI_LOR},
                  {ReduceOp::logical_xor, MPI_LXOR}, {ReduceOp::bitwise_and, MPI_BAND},
                  {ReduceOp::bitwise_or, MPI_BOR},   {ReduceOp::bitwise_xor, MPI_BXOR}};
  const auto expect = [](Scalar scalar, const Ops& ops, bool defined) {
    for (const auto& [op, mpi_op] : ops)
      EXPECT_EQ(mpi::reduction(op, scalar), defined ? mpi_op : MPI_OP_NULL) << to_string(scalar) << to_string(op);
  };
  for (const auto scalar : {scalar_of<float>(), scalar_of<Complex>(), scalar_of<long double>(), scalar_of<long>()}) {
    expect(scalar, of_all, true);
    expect(scalar, of_ordered, scalar.kind != ScalarKind::complex);
    expect(scalar, of_integers, scalar.kind == ScalarKind::signed_integer);
  }
  for (const auto* ops : {&of_all, &of_ordered, &of_integers}) expect_ops<int>(MPI_INT, *ops);
  expect_ops<Complex>(MPI_C_DOUBLE_COMPLEX, of_all);
}

/// Every integer size, signed and not: the largest value tells them apart.
template <class T>
void expect_limits(const Communicator& comm) {
  const T most = std::numeric_limits<T>::max(), least = std::numeric_limits<T>::lowest();
  const bool last = comm.rank() == comm.size() - 1;
  EXPECT_EQ(allreduce(comm, last ? most : T(1), ReduceOp::max), most);
  EXPECT_EQ(allreduce(comm, last ? least : T(1), ReduceOp::min), least);
}

TEST_F(Functors, LimitsOfEveryType) {
  const auto all = static_cast<long double>(ranks);
  EXPECT_EQ(allreduce(comm, std::complex(1.0L, 2.0L), ReduceOp::sum), std::complex(all, 2 * all));
  expect_limits<signed char>(comm);
  expect_limits<short>(comm);
  expect_limits<long>(comm);
  expect_limits<float>(comm);
  expect_limits<long double>(comm);
#if defined(MPICH_NUMVERSION) && MPICH_NUMVERSION < 40100000
  expect_error<CallError>([&] { allreduce(comm, 1u, ReduceOp::max); }, {"max is not defined for uint32; a functor"});
#else
  expect_limits<unsigned char>(comm);
  expect_limits<unsigned short>(comm);
  expect_limits<unsigned>(comm);
  expect_limits<unsigned long long>(comm);
#endif
  EXPECT_EQ(allreduce(comm, is_last, ReduceOp::logical_or), true);
  EXPECT_EQ(allreduce(comm, false, ReduceOp::logical_or), false);
  EXPECT_EQ(allreduce(comm, !is_last, ReduceOp::logical_and), false);
  EXPECT_EQ(allreduce(comm, is_last, ReduceOp::logical_xor), true);
  EXPECT_NE(allreduce(comm, 4, ReduceOp::logical_and), 0);
}

} // namespace
} // namespace kontor::comm::test
