// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reductions by name give what MPI's give, in every form; and those of which each rank gets a part.
#include "collective_forms.hpp"

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
      : comm_(comm), in_(in.view), out_(out.view), op_(twin.op), mpi_op_(twin.mpi_op), type_(type),
        count_(watched(in).count()),
        views_({watched(in, Order::storage), watched(out, Order::storage)},
               [rank = comm.rank()](Watched& view, int number) { view.fill_small<ValueOf<View>>(rank + number); }) {}

  void expect_allreduce() {
    views_.expect(1, true, of_in(by(MPI_Allreduce)), KONTOR_FORMS(allreduce, comm_, in_, out_, op_));
  }
  void expect_all() {
    expect(true, by(MPI_Allreduce), KONTOR_FORMS(allreduce, comm_, in_, out_, op_),
           KONTOR_FORMS(allreduce, comm_, in_, op_));
    expect(true, by(MPI_Scan), KONTOR_FORMS(scan, comm_, in_, out_, op_), KONTOR_FORMS(scan, comm_, in_, op_));
    expect(comm_.rank() > 0, by(MPI_Exscan), KONTOR_FORMS(exscan, comm_, in_, out_, op_),
           KONTOR_FORMS(exscan, comm_, in_, op_));
    for (int root = 0; root < comm_.size(); ++root) {
      const auto mpi_reduce = [root](const void* from, void* to, int n, MPI_Datatype t, MPI_Op op, MPI_Comm c) {
        MPI_Reduce(from, to, n, t, op, root, c);
      };
      expect(comm_.rank() == root, by(mpi_reduce), KONTOR_FORMS(reduce, comm_, in_, out_, op_, root),
             KONTOR_FORMS(reduce, comm_, in_, op_, root));
    }
  }

 private:
  using OfMpi = std::function<void(const void* from, void* to)>;
  template <class Function>
  OfMpi by(Function function) const {
    return [this, function](const void* from, void* to) { function(from, to, count_, type_, mpi_op_, comm_.native()); };
  }
  static Twins::Mpi of_in(const OfMpi& mpi) {
    return [mpi](const Given& given, void* to) { mpi(given[0].data(), to); };
  }
  void expect(bool gets, const OfMpi& mpi, const Forms& out, const Forms& in_place) {
    views_.expect(1, gets, of_in(mpi), out);
    views_.expect(0, gets, of_in(mpi), in_place);
  }

  const Communicator& comm_;
  View in_, out_;
  ReduceOp op_;
  MPI_Op mpi_op_;
  MPI_Datatype type_;
  int count_;
  Twins views_;
};

/// All of them, of Views in one piece and of strided ones. How Views of other ranks and layouts are lent to operations,
/// tests of EqualParts and Functors show.
TEST(Reductions, OfEveryKind) {
  with_levels(levels_with_checks, [](const Communicator& comm) {
    for (const std::size_t rows : {3, 0})
      Reductions(comm, whole<double, Left>("in", Index<2>{rows, 4}), whole<double, Left>("out", Index<2>{rows, 4}), sum,
                 MPI_DOUBLE)
          .expect_all();
    Reductions(comm, inside<int, Right>("in", Index<2>{3, 4}), inside<int, Right>("out", Index<2>{3, 4}), sum, MPI_INT)
        .expect_all();
  });
}

/// By a Reduction, as a program makes it.
template <class T>
void expect_plan(const Communicator& comm, const Twin& twin, MPI_Datatype type) {
  const Kokkos::View<T[3], Kokkos::HostSpace> values("values");
  Reduction reduction(comm, "ops", values, twin.op);
  EXPECT_FALSE(reduction.stream_ordered());
  for (int i = 0; i < 3; ++i) values(i) = static_cast<T>(1 + (comm.rank() + i) % 3);
  T expected[3];
  MPI_Allreduce(values.data(), expected, 3, type, twin.mpi_op, comm.native());
  run_step(reduction);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(values(i), expected[i]) << to_string(twin.op);
}

template <class T>
void expect_ops(MPI_Datatype type, const std::vector<Twin>& twins) {
  for (const auto& entry : backends()) {
    if (!entry.make) continue;
    SCOPED_TRACE(std::string(entry.name));
    const Communicator comm(MPI_COMM_WORLD, method(std::string(entry.name)));
    if (entry.name != "nccl" && entry.name != "ipc")
      for (const auto& twin : twins) expect_plan<T>(comm, twin, type);
    if (!comm.capabilities().moves_data) continue;
    const auto in = whole<T, Left>("in", Index<2>{3, 4});
    const auto out = whole<T, Left>("out", Index<2>{3, 4});
    for (const auto& twin : twins) {
      Reductions(comm, in, out, twin, type).expect_allreduce();
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

TEST(Reductions, OperationsOfEachKindOfNumber) {
  const Twin product{ReduceOp::product, MPI_PROD}, min{ReduceOp::min, MPI_MIN}, max{ReduceOp::max, MPI_MAX};
  const std::vector<Twin> field_ops{sum, product}, ordered_ops{sum, product, min, max};
  const std::vector<Twin> bit_ops{sum,
                                  min,
                                  max,
                                  {ReduceOp::logical_and, MPI_LAND},
                                  {ReduceOp::logical_or, MPI_LOR},
                                  {ReduceOp::logical_xor, MPI_LXOR},
                                  {ReduceOp::bitwise_and, MPI_BAND},
                                  {ReduceOp::bitwise_or, MPI_BOR},
                                  {ReduceOp::bitwise_xor, MPI_BXOR}};
  expect_ops<int>(MPI_INT, bit_ops);
#if !defined(MPICH_NUMVERSION) || MPICH_NUMVERSION >= 40100000 // others take unsigned numbers for signed ones
  expect_ops<unsigned long>(MPI_UNSIGNED_LONG, bit_ops);
#endif
  expect_ops<float>(MPI_FLOAT, ordered_ops);
  expect_ops<double>(MPI_DOUBLE, ordered_ops);
  expect_ops<Complex>(MPI_C_DOUBLE_COMPLEX, field_ops);
  expect_ops<std::complex<float>>(MPI_C_FLOAT_COMPLEX, field_ops);
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
  const auto ranks = static_cast<long double>(comm.size());
  EXPECT_EQ(allreduce(comm, std::complex(1.0L, 2.0L), ReduceOp::sum), std::complex(ranks, 2 * ranks));
  expect_limits<signed char>(comm);
  expect_limits<short>(comm);
  expect_limits<long>(comm);
  expect_limits<long double>(comm);
#if defined(MPICH_NUMVERSION) && MPICH_NUMVERSION < 40100000
  EXPECT_EQ(text_of<CallError>([&] { allreduce(comm, 1u, ReduceOp::max); }),
            "allreduce of a value, () uint32, max: max is not defined for uint32; a functor can say what it is");
#else
  expect_limits<unsigned char>(comm);
  expect_limits<unsigned short>(comm);
  expect_limits<unsigned>(comm);
  expect_limits<unsigned long long>(comm);
#endif
  const bool last = comm.rank() == comm.size() - 1;
  EXPECT_EQ(allreduce(comm, last, ReduceOp::logical_or), true);
  EXPECT_EQ(allreduce(comm, false, ReduceOp::logical_or), false);
  EXPECT_EQ(allreduce(comm, !last, ReduceOp::logical_and), false);
  EXPECT_EQ(allreduce(comm, last, ReduceOp::logical_xor), true);
  EXPECT_NE(allreduce(comm, 4, ReduceOp::logical_and), 0);
}

} // namespace
} // namespace kontor::comm::test
