// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Collective operations that move parts of one size deliver the bits that MPI's deliver: in every form, for Views of
// many shapes, and leave the memory around them as it was.
#include "part_calls.hpp"

namespace kontor::comm::test {
namespace {

/// The operations are compiled once, for all Views; a View's type decides how it is lent to them. So all Views are lent
/// in each way, to be read, to be written and both, and `everything` is for a few of them.
enum class Which { each_way, everything };

template <Which which, class Part, class Whole>
void expect_equal_parts(const Communicator& comm, const Field<Part>& part_field, const Field<Whole>& whole_field,
                        const Field<Whole>& other_field) {
  const auto& part = part_field.view;
  const auto& whole = whole_field.view;
  const auto& other = other_field.view;
  Twins views(
      {watched(part_field, Order::storage), watched(whole_field, Order::storage), watched(other_field, Order::storage)},
      [&](Watched& view, int number) { view.fill(10 * comm.rank() + number + 1); });
  const MpiParts mpi(comm, std::vector<int>(comm.size(), watched(part_field).bytes()), 1);
  const auto allgather_of_mpi = [&](const Given& given, void* to) { mpi.allgather(given[of_part].data(), to); };
  const auto alltoall_of_mpi = [&](const Given& given, void* to) { mpi.alltoall(given[of_whole].data(), to); };
  views.expect(of_whole, true, alltoall_of_mpi, KONTOR_FORMS(alltoall, comm, whole));
  views.expect(of_whole, true, allgather_of_mpi, KONTOR_FORMS(allgather, comm, part, whole));
  if constexpr (which == Which::everything) {
    views.expect(of_other, true, alltoall_of_mpi, KONTOR_FORMS(alltoall, comm, whole, other));
    int root = 0;
    const auto bcast_of_mpi = [&](const Given& given, void* all) {
      MPI_Bcast(all, static_cast<int>(given[of_whole].size()), MPI_BYTE, root, comm.native());
    };
    for (; root < comm.size(); ++root)
      views.expect(of_whole, true, bcast_of_mpi, KONTOR_FORMS(bcast, comm, whole, root));
    expect_parts(comm, views, mpi,
                 {.allgather = KONTOR_FORMS(allgather, comm, part, whole),
                  .allgather_in_place = KONTOR_FORMS(allgather, comm, whole),
                  .gather = KONTOR_FORMS(gather, comm, part, whole, root),
                  .gather_at_root = KONTOR_FORMS(gather, comm, whole, root),
                  .gather_elsewhere = KONTOR_FORMS(gather, comm, part, root),
                  .scatter = KONTOR_FORMS(scatter, comm, whole, part, root),
                  .scatter_at_root = KONTOR_FORMS(scatter, comm, whole, root),
                  .scatter_elsewhere = KONTOR_FORMS(scatter, comm, part, root)},
                 root);
  }
}

template <std::size_t rank>
Index<rank + 1> extended(const Index<rank>& extents, std::size_t last) {
  Index<rank + 1> extended{};
  std::copy(extents.begin(), extents.end(), extended.begin());
  extended[rank] = last;
  return extended;
}

using EqualParts = OnRing;

template <Which which, class T, class Layout, std::size_t rank>
void expect_equal_parts(const Communicator& comm, const Index<rank>& extents) {
  const auto all = extended(extents, static_cast<std::size_t>(comm.size()));
  if constexpr (rank > 0 || !std::is_same_v<Layout, Stride>) // Kokkos has no memory for such a View
    expect_equal_parts<which>(comm, whole<T, Layout>("part", extents), whole<T, Layout>("whole", all),
                              whole<T, Layout>("other", all));
  expect_equal_parts<which>(comm, inside<T, Layout>("part", extents), inside<T, Layout>("whole", all),
                            inside<T, Layout>("other", all));
}

TEST_F(EqualParts, InEveryForm) {
  with_levels(levels_with_checks, [](const Communicator& comm) {
    expect_equal_parts<Which::everything, double, Right>(comm, Index<1>{5});
    expect_equal_parts<Which::everything, double, Right>(comm, Index<1>{0});
    expect_equal_parts<Which::everything, Pair, Left>(comm, Index<2>{3, 2});
  });
}

template <class Layout>
void expect_ranks_0_to_3(const Communicator& comm) {
  expect_equal_parts<Which::each_way, double, Layout>(comm, Index<0>{});
  expect_equal_parts<Which::each_way, double, Layout>(comm, Index<1>{5});
  expect_equal_parts<Which::each_way, double, Layout>(comm, Index<2>{3, 4});
  expect_equal_parts<Which::each_way, double, Layout>(comm, Index<3>{2, 3, 4});
}
TEST_F(EqualParts, RanksAndLayouts) {
  expect_ranks_0_to_3<Left>(comm);
  expect_ranks_0_to_3<Right>(comm);
  expect_ranks_0_to_3<Stride>(comm);
}
TEST_F(EqualParts, Scalars) {
  expect_equal_parts<Which::each_way, int, Right>(comm, Index<1>{7});
  expect_equal_parts<Which::each_way, Kokkos::complex<float>, Right>(comm, Index<2>{3, 2});
}

/// Senders may be const, and the other ranks' receivers absent.
TEST_F(EqualParts, ConstSendersAndNoReceiver) {
  const Doubles part("part", 2);
  Kokkos::deep_copy(part, rank + 1);
  const Doubles whole = is_last ? Doubles("whole", 2 * ranks) : Doubles();
  const HostView<const double*> const_part = part;
  gather(comm, const_part, whole, last);
  for (std::size_t i = 0; i < whole.size(); ++i) EXPECT_EQ(whole(i), 1 + i / 2);

  const Doubles back("back", 2);
  const HostView<const double*> const_whole = whole;
  scatter(comm, const_whole, back, last);
  EXPECT_EQ(back(0), rank + 1);
  EXPECT_EQ(back(1), rank + 1);
}

} // namespace
} // namespace kontor::comm::test
