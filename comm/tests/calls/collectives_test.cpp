// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Collective operations that move elements deliver the bits that MPI's deliver: in every form, for Views of
// many shapes, and leave the memory around them as it was.
#include "collective_forms.hpp"

#include <functional>

namespace kontor::comm::test {
namespace {

/// The operations are compiled once, for all Views; a View's type decides how it is lent to them. So all
/// Views are lent in each way, to be read, to be written and both, and `everything` is for a few of them.
enum class Which { each_way, everything };

template <Which which, class Part, class Whole>
void expect_equal_parts(const Communicator& comm, const Field<Part>& part_field,
                        const Field<Whole>& whole_field, const Field<Whole>& other_field) {
  const auto& part = part_field.view;
  const auto& whole = whole_field.view;
  const auto& other = other_field.view;
  enum { of_part, of_whole, of_other };
  Twins views({watched(part_field, Order::storage), watched(whole_field, Order::storage),
               watched(other_field, Order::storage)},
              [&](Watched& view, int number) { view.fill(10 * comm.rank() + number + 1); });
  const auto native = comm.native();
  const int bytes = watched(part_field).bytes();
  const auto mpi_alltoall = [&](const Given& given, void* all) {
    MPI_Alltoall(given[of_whole].data(), bytes, MPI_BYTE, all, bytes, MPI_BYTE, native);
  };
  views.expect(
      of_whole, true,
      [&](const Given& given, void* all) {
        MPI_Allgather(given[of_part].data(), bytes, MPI_BYTE, all, bytes, MPI_BYTE, native);
      },
      [&] { allgather(comm, part, whole); }, [&] { return iallgather(comm, part, whole); });
  views.expect(
      of_whole, true, mpi_alltoall, [&] { alltoall(comm, whole); }, [&] { return ialltoall(comm, whole); });
  if constexpr (which == Which::everything) {
    views.expect(
        of_whole, true,
        [&](const Given&, void* all) {
          MPI_Allgather(MPI_IN_PLACE, 0, MPI_BYTE, all, bytes, MPI_BYTE, native);
        },
        [&] { allgather(comm, whole); }, [&] { return iallgather(comm, whole); });
    views.expect(
        of_other, true, mpi_alltoall, [&] { alltoall(comm, whole, other); },
        [&] { return ialltoall(comm, whole, other); });
    for (int root = 0; root < comm.size(); ++root) {
      SCOPED_TRACE("root " + std::to_string(root));
      const bool at_root = comm.rank() == root;
      views.expect(
          of_whole, true,
          [&](const Given& given, void* all) {
            MPI_Bcast(all, static_cast<int>(given[of_whole].size()), MPI_BYTE, root, native);
          },
          [&] { bcast(comm, whole, root); }, [&] { return ibcast(comm, whole, root); });
      const auto mpi_gather = [&](const void* own, void* all) {
        MPI_Gather(own, bytes, MPI_BYTE, all, bytes, MPI_BYTE, root, native);
      };
      views.expect(
          of_whole, at_root, [&](const Given& given, void* all) { mpi_gather(given[of_part].data(), all); },
          [&] { gather(comm, part, whole, root); }, [&] { return igather(comm, part, whole, root); });
      views.expect(
          of_whole, at_root,
          [&](const Given& given, void* all) {
            mpi_gather(at_root ? MPI_IN_PLACE : given[of_part].data(), all);
          },
          [&] { at_root ? gather(comm, whole, root) : gather(comm, part, root); },
          [&] {
            return at_root ? AnyRequest(igather(comm, whole, root)) : AnyRequest(igather(comm, part, root));
          });
      const auto mpi_scatter = [&](const void* all, void* own) {
        MPI_Scatter(all, bytes, MPI_BYTE, own, bytes, MPI_BYTE, root, native);
      };
      views.expect(
          of_part, true, [&](const Given& given, void* own) { mpi_scatter(given[of_whole].data(), own); },
          [&] { scatter(comm, whole, part, root); }, [&] { return iscatter(comm, whole, part, root); });
      views.expect(
          of_part, !at_root,
          [&](const Given& given, void* own) {
            mpi_scatter(given[of_whole].data(), at_root ? MPI_IN_PLACE : own);
          },
          [&] { at_root ? scatter(comm, whole, root) : scatter(comm, part, root); },
          [&] {
            return at_root ? AnyRequest(iscatter(comm, whole, root)) : AnyRequest(iscatter(comm, part, root));
          });
    }
  }
}

template <std::size_t rank>
Index<rank + 1> extended(const Index<rank>& extents, std::size_t last) {
  Index<rank + 1> extended{};
  std::copy(extents.begin(), extents.end(), extended.begin());
  extended[rank] = last;
  return extended;
}

template <Which which, class T, class Layout, std::size_t rank>
void expect_equal_parts(const Index<rank>& extents) {
  const Communicator comm(MPI_COMM_WORLD);
  const auto all = extended(extents, static_cast<std::size_t>(comm.size()));
  if constexpr (rank > 0 || !std::is_same_v<Layout, Stride>) // Kokkos has no memory for such a View
    expect_equal_parts<which>(comm, whole<T, Layout>("part", extents), whole<T, Layout>("whole", all),
                              whole<T, Layout>("other", all));
  expect_equal_parts<which>(comm, inside<T, Layout>("part", extents), inside<T, Layout>("whole", all),
                            inside<T, Layout>("other", all));
}

TEST(EqualParts, InEveryForm) {
  expect_equal_parts<Which::everything, double, Right>(Index<1>{5});
  expect_equal_parts<Which::everything, double, Right>(Index<1>{0});
  expect_equal_parts<Which::everything, Pair, Left>(Index<2>{3, 2});
}

template <class Layout>
void expect_ranks_0_to_3() {
  expect_equal_parts<Which::each_way, double, Layout>(Index<0>{});
  expect_equal_parts<Which::each_way, double, Layout>(Index<1>{5});
  expect_equal_parts<Which::each_way, double, Layout>(Index<2>{3, 4});
  expect_equal_parts<Which::each_way, double, Layout>(Index<3>{2, 3, 4});
}
TEST(EqualParts, RanksAndLayouts) {
  expect_ranks_0_to_3<Left>();
  expect_ranks_0_to_3<Right>();
  expect_ranks_0_to_3<Stride>();
}
TEST(EqualParts, Scalars) {
  expect_equal_parts<Which::each_way, int, Right>(Index<1>{7});
  expect_equal_parts<Which::each_way, Kokkos::complex<float>, Right>(Index<2>{3, 2});
}

/// Senders may be const, and the other ranks' receivers absent.
TEST(EqualParts, ConstSendersAndNoReceiver) {
  const Communicator comm(MPI_COMM_WORLD);
  const int last = comm.size() - 1;
  const bool at_root = comm.rank() == last;
  const Doubles part("part", 2);
  Kokkos::deep_copy(part, comm.rank() + 1);
  const Doubles whole = at_root ? Doubles("whole", 2 * comm.size()) : Doubles();
  const HostView<const double*> const_part = part;
  gather(comm, const_part, whole, last);
  for (std::size_t i = 0; i < whole.size(); ++i) EXPECT_EQ(whole(i), 1 + i / 2);

  const Doubles back("back", 2);
  const HostView<const double*> const_whole = whole;
  scatter(comm, const_whole, back, last);
  EXPECT_EQ(back(0), comm.rank() + 1);
  EXPECT_EQ(back(1), comm.rank() + 1);
}

/// No rank leaves before the last one comes, which takes its time.
TEST(Barrier, WaitsForAll) {
  const Communicator comm(MPI_COMM_WORLD);
  if (comm.size() == 1) return;
  const auto expect_late = [&](auto meet) {
    int arrived = 0;
    MPI_Request request = MPI_REQUEST_NULL;
    const int last = comm.size() - 1;
    if (comm.rank() == 0) MPI_Irecv(&arrived, 1, MPI_INT, last, 0, comm.native(), &request);
    if (comm.rank() == last) {
      const int here = 1;
      MPI_Ssend(&here, 1, MPI_INT, 0, 0, comm.native());
    }
    meet();
    int done = comm.rank() != 0;
    if (!done) MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    EXPECT_TRUE(done);
    if (!done) MPI_Wait(&request, MPI_STATUS_IGNORE);
  };
  expect_late([&] { barrier(comm); });
  expect_late([&] { ibarrier(comm).wait(); });
}

} // namespace
} // namespace kontor::comm::test
