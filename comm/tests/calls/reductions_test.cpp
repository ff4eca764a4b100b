// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reductions by name give what MPI's give, in every form.
#include "collective_forms.hpp"
#include "error_text.hpp"
#include "methods.hpp"

#include <kontor/comm/comm.hpp>

#include <gtest/gtest.h>

namespace kontor::comm::test {
namespace {

using Left = Kokkos::LayoutLeft;
using Right = Kokkos::LayoutRight;
using Stride = Kokkos::LayoutStride;
using Complex = Kokkos::complex<double>;

/// An operation in Kontor's words and in MPI's.
template <class Op>
struct Twin {
  Op op;
  MPI_Op mpi_op;
};

/// Reductions of `in` into `out` and in place, and their twins by MPI.
template <class T>
class Reduced {
 public:
  /// What the rank has and gets, in and out, of the MPI function.
  using Mpi = FunctionRef<void(const void* from, void* to)>;

  Reduced(const Communicator& comm, Watched in, Watched out)
      : comm_(comm), in_(std::move(in)), out_(std::move(out)) {}

  int count() const { return in_.count(); }

  /// `gets`: whether this rank has a result.
  void expect_out(Mpi mpi, bool gets, Blocking blocking, Nonblocking nonblocking) {
    in_all_forms([this] { prepare(); }, blocking, nonblocking,
                 [&](const char* form) {
                   auto expected = held_;
                   mpi(given_.data(), expected.data());
                   if (gets)
                     out_.expect(expected, form);
                   else
                     out_.expect_unchanged(form);
                   in_.expect_unchanged(form);
                 });
  }
  void expect_in_place(Mpi mpi, bool gets, Blocking blocking, Nonblocking nonblocking) {
    in_all_forms([this] { prepare(); }, blocking, nonblocking,
                 [&](const char* form) {
                   auto expected = given_;
                   mpi(given_.data(), expected.data());
                   if (gets)
                     in_.expect(expected, form);
                   else
                     in_.expect_unchanged(form);
                 });
  }

 private:
  void prepare() {
    in_.fill_small<T>(comm_.rank());
    out_.fill_small<T>(comm_.rank() + 1);
    given_ = in_.elements();
    held_ = out_.elements();
  }

  const Communicator& comm_;
  Watched in_;
  Watched out_;
  Bytes given_;
  Bytes held_;
};

template <class View>
Reduced<ValueOf<View>> reduced(const Communicator& comm, const Field<View>& in, const Field<View>& out) {
  return {comm, watched(in, Order::storage), watched(out, Order::storage)};
}

/// The operations are compiled once, for all Views; a View's type decides how it is lent to them, which an
/// allreduce shows.
template <class View, class Op>
void expect_allreduce_out(const Communicator& comm, const Field<View>& in_field, const Field<View>& out_field,
                          const Twin<Op>& twin, MPI_Datatype type) {
  const auto& in = in_field.view;
  const auto& out = out_field.view;
  const auto op = twin.op;
  auto views = reduced(comm, in_field, out_field);
  const auto mpi = [&](const void* from, void* to) {
    MPI_Allreduce(from, to, views.count(), type, twin.mpi_op, comm.native());
  };
  views.expect_out(
      mpi, true, [&] { allreduce(comm, in, out, op); }, [&] { return iallreduce(comm, in, out, op); });
}

template <class View, class Op>
void expect_allreduce(const Communicator& comm, const Field<View>& in_field, const Field<View>& out_field,
                      const Twin<Op>& twin, MPI_Datatype type) {
  expect_allreduce_out(comm, in_field, out_field, twin, type);
  const auto& in = in_field.view;
  const auto op = twin.op;
  auto views = reduced(comm, in_field, out_field);
  const auto mpi = [&](const void* from, void* to) {
    MPI_Allreduce(from, to, views.count(), type, twin.mpi_op, comm.native());
  };
  views.expect_in_place(
      mpi, true, [&] { allreduce(comm, in, op); }, [&] { return iallreduce(comm, in, op); });
}

template <class View, class Op>
void expect_reductions(const Communicator& comm, const Field<View>& in_field, const Field<View>& out_field,
                       const Twin<Op>& twin, MPI_Datatype type) {
  expect_allreduce(comm, in_field, out_field, twin, type);
  const auto& in = in_field.view;
  const auto& out = out_field.view;
  const auto op = twin.op;
  auto views = reduced(comm, in_field, out_field);
  const int n = views.count();
  const auto mpi_scan = [&](const void* from, void* to) {
    MPI_Scan(from, to, n, type, twin.mpi_op, comm.native());
  };
  views.expect_out(
      mpi_scan, true, [&] { scan(comm, in, out, op); }, [&] { return iscan(comm, in, out, op); });
  views.expect_in_place(
      mpi_scan, true, [&] { scan(comm, in, op); }, [&] { return iscan(comm, in, op); });
  const auto mpi_exscan = [&](const void* from, void* to) {
    MPI_Exscan(from, to, n, type, twin.mpi_op, comm.native());
  };
  const bool not_first = comm.rank() > 0;
  views.expect_out(
      mpi_exscan, not_first, [&] { exscan(comm, in, out, op); }, [&] { return iexscan(comm, in, out, op); });
  views.expect_in_place(
      mpi_exscan, not_first, [&] { exscan(comm, in, op); }, [&] { return iexscan(comm, in, op); });
  for (int root = 0; root < comm.size(); ++root) {
    SCOPED_TRACE("root " + std::to_string(root));
    const auto mpi_reduce = [&](const void* from, void* to) {
      MPI_Reduce(from, to, n, type, twin.mpi_op, root, comm.native());
    };
    const bool here = comm.rank() == root;
    views.expect_out(
        mpi_reduce, here, [&] { reduce(comm, in, out, op, root); },
        [&] { return ireduce(comm, in, out, op, root); });
    views.expect_in_place(
        mpi_reduce, here, [&] { reduce(comm, in, op, root); }, [&] { return ireduce(comm, in, op, root); });
  }
}

const Twin<ReduceOp> sum{ReduceOp::sum, MPI_SUM};

template <class T, class Layout, std::size_t rank>
void expect_shape(const Communicator& comm, const Index<rank>& extents, MPI_Datatype type) {
  if constexpr (rank > 0 || !std::is_same_v<Layout, Stride>) // Kokkos has no memory for such a View
    expect_allreduce(comm, whole<T, Layout>("in", extents), whole<T, Layout>("out", extents), sum, type);
  expect_allreduce(comm, inside<T, Layout>("in", extents), inside<T, Layout>("out", extents), sum, type);
}

/// Every rank and every layout; all pairs of them are lent in the tests of EqualParts.
TEST(Reductions, RanksAndLayouts) {
  const Communicator comm(MPI_COMM_WORLD);
  expect_shape<double, Left>(comm, Index<0>{}, MPI_DOUBLE);
  expect_shape<double, Stride>(comm, Index<1>{5}, MPI_DOUBLE);
  expect_shape<double, Right>(comm, Index<2>{3, 4}, MPI_DOUBLE);
  expect_shape<double, Left>(comm, Index<3>{2, 3, 4}, MPI_DOUBLE);
}
TEST(Reductions, NoElements) {
  const Communicator comm(MPI_COMM_WORLD);
  expect_shape<double, Right>(comm, Index<2>{0, 3}, MPI_DOUBLE);
}

/// All of them, of Views in one piece and of strided ones.
TEST(Reductions, OfEveryKind) {
  const Communicator comm(MPI_COMM_WORLD);
  for (const std::size_t rows : {3, 0})
    expect_reductions(comm, whole<double, Left>("in", Index<2>{rows, 4}),
                      whole<double, Left>("out", Index<2>{rows, 4}), sum, MPI_DOUBLE);
  expect_reductions(comm, inside<int, Right>("in", Index<2>{3, 4}), inside<int, Right>("out", Index<2>{3, 4}),
                    sum, MPI_INT);
}

template <class T>
void expect_ops(MPI_Datatype type, std::vector<Twin<ReduceOp>> twins) {
  for (const auto& entry : backends()) {
    if (!entry.make) continue;
    const Communicator comm(MPI_COMM_WORLD, method(std::string(entry.name)));
    if (!comm.capabilities().moves_data) continue;
    const auto in = whole<T, Left>("in", Index<2>{3, 4});
    const auto out = whole<T, Left>("out", Index<2>{3, 4});
    for (const auto& twin : twins) {
      expect_allreduce_out(comm, in, out, twin, type);
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

const std::vector<Twin<ReduceOp>> field_ops{{ReduceOp::sum, MPI_SUM}, {ReduceOp::product, MPI_PROD}};
const std::vector<Twin<ReduceOp>> ordered_ops{{ReduceOp::sum, MPI_SUM},
                                              {ReduceOp::product, MPI_PROD},
                                              {ReduceOp::min, MPI_MIN},
                                              {ReduceOp::max, MPI_MAX}};
const std::vector<Twin<ReduceOp>> bit_ops{
    {ReduceOp::min, MPI_MIN},        {ReduceOp::max, MPI_MAX},          {ReduceOp::logical_and, MPI_LAND},
    {ReduceOp::logical_or, MPI_LOR}, {ReduceOp::logical_xor, MPI_LXOR}, {ReduceOp::bitwise_and, MPI_BAND},
    {ReduceOp::bitwise_or, MPI_BOR}, {ReduceOp::bitwise_xor, MPI_BXOR}, {ReduceOp::sum, MPI_SUM}};

TEST(Reductions, Int) {
  expect_ops<int>(MPI_INT, bit_ops);
}
TEST(Reductions, Unsigned64) {
#if defined(MPICH_NUMVERSION) && MPICH_NUMVERSION < 40100000
  GTEST_SKIP() << "this MPI takes unsigned numbers for signed ones, so min and max are refused";
#endif
  expect_ops<unsigned long>(MPI_UNSIGNED_LONG, bit_ops);
}
TEST(Reductions, Float) {
  expect_ops<float>(MPI_FLOAT, ordered_ops);
}
TEST(Reductions, Double) {
  expect_ops<double>(MPI_DOUBLE, ordered_ops);
}
TEST(Reductions, KokkosComplex) {
  expect_ops<Complex>(MPI_C_DOUBLE_COMPLEX, field_ops);
}
TEST(Reductions, StdComplex) {
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
