// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reductions by name give what MPI's give, in every form.
#include "collective_forms.hpp"

#include <complex>
#include <limits>

namespace kontor::comm::test {
namespace {

using Complex = Kokkos::complex<double>;

/// An operation in Kontor's words and in MPI's.
struct Twin {
  ReduceOp op;
  MPI_Op mpi_op;
};
const Twin sum{ReduceOp::sum, MPI_SUM};

/// Reductions of `in` into `out` and in place, beside those of MPI.
template <class View>
class Reductions {
 public:
  Reductions(const Communicator& comm, const Field<View>& in, const Field<View>& out, const Twin& twin,
             MPI_Datatype type)
      : comm_(comm), in_(in.view), out_(out.view), twin_(twin), type_(type), count_(watched(in).count()),
        views_({watched(in, Order::storage), watched(out, Order::storage)},
               [rank = comm.rank()](Watched& view, int number) {
                 view.fill_small<ValueOf<View>>(rank + number);
               }) {}

  void expect_allreduce_out() {
    views_.expect(
        1, true, [&](const Given& given, void* to) { mpi_allreduce(given[0].data(), to); },
        [&] { allreduce(comm_, in_, out_, twin_.op); },
        [&] { return iallreduce(comm_, in_, out_, twin_.op); });
  }
  /// The operations are compiled once, for all Views; a View's type decides how it is lent to them, which an
  /// allreduce shows.
  void expect_allreduce() {
    expect_allreduce_out();
    views_.expect(
        0, true, [&](const Given& given, void* to) { mpi_allreduce(given[0].data(), to); },
        [&] { allreduce(comm_, in_, twin_.op); }, [&] { return iallreduce(comm_, in_, twin_.op); });
  }
  void expect_all() {
    expect_allreduce();
    const auto op = twin_.op;
    const auto native = comm_.native();
    expect_out_and_in_place(
        true,
        [&](const Given& given, void* to) {
          MPI_Scan(given[0].data(), to, count_, type_, twin_.mpi_op, native);
        },
        [&] { scan(comm_, in_, out_, op); }, [&] { return iscan(comm_, in_, out_, op); },
        [&] { scan(comm_, in_, op); }, [&] { return iscan(comm_, in_, op); });
    expect_out_and_in_place(
        comm_.rank() > 0,
        [&](const Given& given, void* to) {
          MPI_Exscan(given[0].data(), to, count_, type_, twin_.mpi_op, native);
        },
        [&] { exscan(comm_, in_, out_, op); }, [&] { return iexscan(comm_, in_, out_, op); },
        [&] { exscan(comm_, in_, op); }, [&] { return iexscan(comm_, in_, op); });
    for (int root = 0; root < comm_.size(); ++root) {
      SCOPED_TRACE("root " + std::to_string(root));
      expect_out_and_in_place(
          comm_.rank() == root,
          [&](const Given& given, void* to) {
            MPI_Reduce(given[0].data(), to, count_, type_, twin_.mpi_op, root, native);
          },
          [&] { reduce(comm_, in_, out_, op, root); }, [&] { return ireduce(comm_, in_, out_, op, root); },
          [&] { reduce(comm_, in_, op, root); }, [&] { return ireduce(comm_, in_, op, root); });
    }
  }

 private:
  void mpi_allreduce(const void* from, void* to) {
    MPI_Allreduce(from, to, count_, type_, twin_.mpi_op, comm_.native());
  }
  void expect_out_and_in_place(bool gets, const Twins::Mpi& mpi, const Blocking& out,
                               const Nonblocking& nonblocking_out, const Blocking& in_place,
                               const Nonblocking& nonblocking_in_place) {
    views_.expect(1, gets, mpi, out, nonblocking_out);
    views_.expect(0, gets, mpi, in_place, nonblocking_in_place);
  }

  const Communicator& comm_;
  View in_, out_;
  Twin twin_;
  MPI_Datatype type_;
  int count_;
  Twins views_;
};

template <class T, class Layout, std::size_t rank>
void expect_shape(const Communicator& comm, const Index<rank>& extents, MPI_Datatype type) {
  if constexpr (rank > 0 || !std::is_same_v<Layout, Stride>) // Kokkos has no memory for such a View
    Reductions(comm, whole<T, Layout>("in", extents), whole<T, Layout>("out", extents), sum, type)
        .expect_allreduce();
  Reductions(comm, inside<T, Layout>("in", extents), inside<T, Layout>("out", extents), sum, type)
      .expect_allreduce();
}

/// Every rank and every layout; all pairs of them are lent in the tests of EqualParts.
TEST(Reductions, RanksAndLayouts) {
  const Communicator comm(MPI_COMM_WORLD);
  expect_shape<double, Left>(comm, Index<0>{}, MPI_DOUBLE);
  expect_shape<double, Stride>(comm, Index<1>{5}, MPI_DOUBLE);
  expect_shape<double, Right>(comm, Index<2>{3, 4}, MPI_DOUBLE);
  expect_shape<double, Left>(comm, Index<3>{2, 3, 4}, MPI_DOUBLE);
  expect_shape<double, Right>(comm, Index<2>{0, 3}, MPI_DOUBLE);
}

/// All of them, of Views in one piece and of strided ones.
TEST(Reductions, OfEveryKind) {
  const Communicator comm(MPI_COMM_WORLD);
  for (const std::size_t rows : {3, 0})
    Reductions(comm, whole<double, Left>("in", Index<2>{rows, 4}),
               whole<double, Left>("out", Index<2>{rows, 4}), sum, MPI_DOUBLE)
        .expect_all();
  Reductions(comm, inside<int, Right>("in", Index<2>{3, 4}), inside<int, Right>("out", Index<2>{3, 4}), sum,
             MPI_INT)
      .expect_all();
}

template <class T>
void expect_ops(MPI_Datatype type, std::vector<Twin> twins) {
  for (const auto& entry : backends()) {
    if (!entry.make) continue;
    const Communicator comm(MPI_COMM_WORLD, method(std::string(entry.name)));
    if (!comm.capabilities().moves_data) continue;
    const auto in = whole<T, Left>("in", Index<2>{3, 4});
    const auto out = whole<T, Left>("out", Index<2>{3, 4});
    for (const auto& twin : twins) {
      Reductions(comm, in, out, twin, type).expect_allreduce_out();
      T expected{}, given = static_cast<T>(comm.rank() + 2);
      MPI_Allreduce(&given, &expected, 1, type, twin.mpi_op, comm.native());
      EXPECT_EQ(allreduce(comm, given, twin.op), expected);
      MPI_Scan(&given, &expected, 1, type, twin.mpi_op, comm.native());
      EXPECT_EQ(scan(comm, given, twin.op), expected);
      expected = T{};
      MPI_Exscan(&given, &expected, 1, type, twin.mpi_op, comm.native());
      EXPECT_EQ(exscan(comm, given, twin.op), comm.rank() == 0 ? T{} : expected);
    }
  }
}

const std::vector<Twin> field_ops{{ReduceOp::sum, MPI_SUM}, {ReduceOp::product, MPI_PROD}};
const std::vector<Twin> ordered_ops{{ReduceOp::sum, MPI_SUM},
                                    {ReduceOp::product, MPI_PROD},
                                    {ReduceOp::min, MPI_MIN},
                                    {ReduceOp::max, MPI_MAX}};
const std::vector<Twin> bit_ops{
    {ReduceOp::min, MPI_MIN},        {ReduceOp::max, MPI_MAX},          {ReduceOp::logical_and, MPI_LAND},
    {ReduceOp::logical_or, MPI_LOR}, {ReduceOp::logical_xor, MPI_LXOR}, {ReduceOp::bitwise_and, MPI_BAND},
    {ReduceOp::bitwise_or, MPI_BOR}, {ReduceOp::bitwise_xor, MPI_BXOR}, {ReduceOp::sum, MPI_SUM}};

TEST(Reductions, OperationsOfEachKindOfNumber) {
  expect_ops<int>(MPI_INT, bit_ops);
#if !defined(MPICH_NUMVERSION) || MPICH_NUMVERSION >= 40100000 // others take unsigned numbers for signed ones
  expect_ops<unsigned long>(MPI_UNSIGNED_LONG, bit_ops);
#endif
  expect_ops<float>(MPI_FLOAT, ordered_ops);
  expect_ops<double>(MPI_DOUBLE, ordered_ops);
  expect_ops<Complex>(MPI_C_DOUBLE_COMPLEX, field_ops);
  expect_ops<std::complex<float>>(MPI_C_FLOAT_COMPLEX, field_ops);
}

TEST(Reductions, ComplexOfLongDouble) {
  const Communicator comm(MPI_COMM_WORLD);
  using Long = std::complex<long double>;
  EXPECT_EQ(allreduce(comm, Long(1, 2), ReduceOp::sum),
            Long(static_cast<long double>(comm.size()), 2.0L * static_cast<long double>(comm.size())));
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

TEST(Reductions, LimitsOfEveryType) {
  const Communicator comm(MPI_COMM_WORLD);
  expect_limits<signed char>(comm);
  expect_limits<short>(comm);
  expect_limits<long>(comm);
  expect_limits<long double>(comm);
#if defined(MPICH_NUMVERSION) && MPICH_NUMVERSION < 40100000
  EXPECT_EQ(
      text_of<CallError>([&] { allreduce(comm, 1u, ReduceOp::max); }),
      "allreduce of a value, () uint32, max: max is not defined for uint32; a functor can say what it is");
#else
  expect_limits<unsigned char>(comm);
  expect_limits<unsigned short>(comm);
  expect_limits<unsigned>(comm);
  expect_limits<unsigned long long>(comm);
#endif
}

TEST(Reductions, Bool) {
  const Communicator comm(MPI_COMM_WORLD);
  const bool last = comm.rank() == comm.size() - 1;
  EXPECT_EQ(allreduce(comm, last, ReduceOp::logical_or), true);
  EXPECT_EQ(allreduce(comm, false, ReduceOp::logical_or), false);
  EXPECT_EQ(allreduce(comm, !last, ReduceOp::logical_and), false);
  EXPECT_EQ(allreduce(comm, last, ReduceOp::logical_xor), true);
  EXPECT_NE(allreduce(comm, 4, ReduceOp::logical_and), 0);
}

} // namespace
} // namespace kontor::comm::test
