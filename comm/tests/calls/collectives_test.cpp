// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Collective operations that move elements deliver the bits that MPI's deliver: in every form, for Views of
// many shapes, and leave the memory around them as it was.
#include "collective_forms.hpp"
#include "methods.hpp"

#include <kontor/comm/comm.hpp>

#include <gtest/gtest.h>

#include <functional>

namespace kontor::comm::test {
namespace {

using Left = Kokkos::LayoutLeft;
using Right = Kokkos::LayoutRight;
using Stride = Kokkos::LayoutStride;

/// Collectives of equal parts and their twins by MPI: `part` is one rank's, `whole` and `other` are those of
/// all.
class EqualParts {
 public:
  EqualParts(const Communicator& comm, Watched part, Watched whole, Watched other)
      : comm_(comm), part_(std::move(part)), whole_(std::move(whole)), other_(std::move(other)) {}

  void expect_bcast(int root, Blocking blocking, Nonblocking nonblocking) {
    in_all_forms(prepare_, blocking, nonblocking, [&](const char* form) {
      auto expected = whole_elements_;
      MPI_Bcast(expected.data(), whole_.bytes(), MPI_BYTE, root, comm_.native());
      whole_.expect(expected, form);
    });
  }

  void expect_gather(int root, Blocking blocking, Nonblocking nonblocking) {
    in_all_forms(prepare_, blocking, nonblocking, [&](const char* form) {
      auto expected = whole_elements_;
      MPI_Gather(part_elements_.data(), bytes_, MPI_BYTE, expected.data(), bytes_, MPI_BYTE, root,
                 comm_.native());
      if (comm_.rank() == root)
        whole_.expect(expected, form);
      else
        whole_.expect_unchanged(form);
      part_.expect_unchanged(form);
    });
  }
  void expect_gather_in_place(int root, Blocking blocking, Nonblocking nonblocking) {
    const bool at_root = comm_.rank() == root;
    in_all_forms(prepare_, blocking, nonblocking, [&](const char* form) {
      auto expected = whole_elements_;
      MPI_Gather(at_root ? MPI_IN_PLACE : part_elements_.data(), bytes_, MPI_BYTE, expected.data(), bytes_,
                 MPI_BYTE, root, comm_.native());
      if (at_root) whole_.expect(expected, form);
      part_.expect_unchanged(form);
    });
  }

  void expect_scatter(int root, Blocking blocking, Nonblocking nonblocking) {
    in_all_forms(prepare_, blocking, nonblocking, [&](const char* form) {
      auto expected = part_elements_;
      MPI_Scatter(whole_elements_.data(), bytes_, MPI_BYTE, expected.data(), bytes_, MPI_BYTE, root,
                  comm_.native());
      part_.expect(expected, form);
      whole_.expect_unchanged(form);
    });
  }
  void expect_scatter_in_place(int root, Blocking blocking, Nonblocking nonblocking) {
    const bool at_root = comm_.rank() == root;
    in_all_forms(prepare_, blocking, nonblocking, [&](const char* form) {
      auto expected = part_elements_;
      MPI_Scatter(whole_elements_.data(), bytes_, MPI_BYTE, at_root ? MPI_IN_PLACE : expected.data(), bytes_,
                  MPI_BYTE, root, comm_.native());
      if (!at_root) part_.expect(expected, form);
      whole_.expect_unchanged(form);
    });
  }

  void expect_allgather(Blocking blocking, Nonblocking nonblocking) {
    in_all_forms(prepare_, blocking, nonblocking, [&](const char* form) {
      auto expected = whole_elements_;
      MPI_Allgather(part_elements_.data(), bytes_, MPI_BYTE, expected.data(), bytes_, MPI_BYTE,
                    comm_.native());
      whole_.expect(expected, form);
      part_.expect_unchanged(form);
    });
  }
  void expect_allgather_in_place(Blocking blocking, Nonblocking nonblocking) {
    in_all_forms(prepare_, blocking, nonblocking, [&](const char* form) {
      auto expected = whole_elements_;
      const auto own = expected.begin() + comm_.rank() * bytes_;
      const Bytes given(own, own + bytes_);
      MPI_Allgather(given.data(), bytes_, MPI_BYTE, expected.data(), bytes_, MPI_BYTE, comm_.native());
      whole_.expect(expected, form);
    });
  }

  void expect_alltoall(Blocking blocking, Nonblocking nonblocking) {
    in_all_forms(prepare_, blocking, nonblocking, [&](const char* form) {
      other_.expect(all_to_all(), form);
      whole_.expect_unchanged(form);
    });
  }
  void expect_alltoall_in_place(Blocking blocking, Nonblocking nonblocking) {
    in_all_forms(prepare_, blocking, nonblocking,
                 [&](const char* form) { whole_.expect(all_to_all(), form); });
  }

 private:
  void prepare() {
    const auto seed = static_cast<std::uint64_t>(10 * comm_.rank());
    part_.fill(seed + 1);
    whole_.fill(seed + 2);
    other_.fill(seed + 3);
    part_elements_ = part_.elements();
    whole_elements_ = whole_.elements();
  }
  Bytes all_to_all() const {
    auto expected = whole_elements_;
    MPI_Alltoall(whole_elements_.data(), bytes_, MPI_BYTE, expected.data(), bytes_, MPI_BYTE, comm_.native());
    return expected;
  }

  const Communicator& comm_;
  Watched part_;
  Watched whole_;
  Watched other_;
  Bytes part_elements_;
  Bytes whole_elements_;
  const std::function<void()> prepare_ = [this] { prepare(); };
  const int bytes_ = part_.bytes();
};

/// The operations are compiled once, for all Views; a View's type decides how it is lent to them. So all
/// Views are lent in each way, to be read, to be written and both, and `everything` is for a few of them.
enum class Which { each_way, everything };

template <Which which, class Part, class Whole>
void expect_equal_parts(const Communicator& comm, const Field<Part>& part_field,
                        const Field<Whole>& whole_field, const Field<Whole>& other_field) {
  const auto& part = part_field.view;
  const auto& whole = whole_field.view;
  EqualParts parts(comm, watched(part_field, Order::storage), watched(whole_field, Order::storage),
                   watched(other_field, Order::storage));
  parts.expect_allgather([&] { allgather(comm, part, whole); },
                         [&] { return iallgather(comm, part, whole); });
  parts.expect_alltoall_in_place([&] { alltoall(comm, whole); }, [&] { return ialltoall(comm, whole); });
  if constexpr (which == Which::everything) {
    const auto& other = other_field.view;
    parts.expect_allgather_in_place([&] { allgather(comm, whole); }, [&] { return iallgather(comm, whole); });
    parts.expect_alltoall([&] { alltoall(comm, whole, other); },
                          [&] { return ialltoall(comm, whole, other); });
    for (int root = 0; root < comm.size(); ++root) {
      SCOPED_TRACE("root " + std::to_string(root));
      const bool at_root = comm.rank() == root;
      parts.expect_bcast(
          root, [&] { bcast(comm, whole, root); }, [&] { return ibcast(comm, whole, root); });
      parts.expect_gather(
          root, [&] { gather(comm, part, whole, root); }, [&] { return igather(comm, part, whole, root); });
      parts.expect_gather_in_place(
          root, [&] { at_root ? gather(comm, whole, root) : gather(comm, part, root); },
          [&] {
            return at_root ? AnyRequest(igather(comm, whole, root)) : AnyRequest(igather(comm, part, root));
          });
      parts.expect_scatter(
          root, [&] { scatter(comm, whole, part, root); }, [&] { return iscatter(comm, whole, part, root); });
      parts.expect_scatter_in_place(
          root, [&] { at_root ? scatter(comm, whole, root) : scatter(comm, part, root); },
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

TEST(EqualParts, Contiguous) {
  expect_equal_parts<Which::everything, double, Right>(Index<1>{5});
  expect_equal_parts<Which::everything, double, Right>(Index<1>{0});
}
TEST(EqualParts, StridedStructs) {
  expect_equal_parts<Which::everything, Pair, Left>(Index<2>{3, 2});
}

template <class Layout>
void expect_ranks_0_to_3() {
  expect_equal_parts<Which::each_way, double, Layout>(Index<0>{});
  expect_equal_parts<Which::each_way, double, Layout>(Index<1>{5});
  expect_equal_parts<Which::each_way, double, Layout>(Index<2>{3, 4});
  expect_equal_parts<Which::each_way, double, Layout>(Index<3>{2, 3, 4});
}
TEST(EqualParts, Left) {
  expect_ranks_0_to_3<Left>();
}
TEST(EqualParts, Right) {
  expect_ranks_0_to_3<Right>();
}
TEST(EqualParts, Stride) {
  expect_ranks_0_to_3<Stride>();
}
TEST(EqualParts, Scalars) {
  expect_equal_parts<Which::each_way, int, Right>(Index<1>{7});
  expect_equal_parts<Which::each_way, Kokkos::complex<float>, Right>(Index<2>{3, 2});
}

/// Senders may be const, and the other ranks' receivers absent.
TEST(EqualParts, ConstSendersAndNoReceiver) {
  const Communicator comm(MPI_COMM_WORLD);
  using Doubles = Kokkos::View<double*, Kokkos::HostSpace>;
  const int last = comm.size() - 1;
  const bool at_root = comm.rank() == last;
  const Doubles part("part", 2);
  Kokkos::deep_copy(part, comm.rank() + 1);
  const Doubles whole = at_root ? Doubles("whole", 2 * comm.size()) : Doubles();
  const Kokkos::View<const double*, Kokkos::HostSpace> const_part = part;
  gather(comm, const_part, whole, last);
  for (std::size_t i = 0; i < whole.size(); ++i) EXPECT_EQ(whole(i), 1 + i / 2);

  const Doubles back("back", 2);
  const Kokkos::View<const double*, Kokkos::HostSpace> const_whole = whole;
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
