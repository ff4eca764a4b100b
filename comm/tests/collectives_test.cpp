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

/// Rank r has (2 r + 1) % 4 elements: some have none.
std::vector<int> uneven(int ranks) {
  std::vector<int> counts;
  for (int r = 0; r < ranks; ++r) counts.push_back((2 * r + 2) % 4);
  return counts;
}

/// The hand-written twins take bytes.
struct InBytes {
  std::vector<int> counts;
  std::vector<int> offsets;
  InBytes(const std::vector<int>& elements, std::size_t size) {
    int offset = 0;
    for (const int n : elements) {
      counts.push_back(n * static_cast<int>(size));
      offsets.push_back(offset);
      offset += counts.back();
    }
  }
};

template <class T, class MakeField>
void expect_uneven_parts(MakeField make) {
  const Communicator comm(MPI_COMM_WORLD);
  const int me = comm.rank();
  const auto counts = uneven(comm.size());
  const std::vector<std::int64_t> wide_counts(counts.begin(), counts.end());
  const InBytes bytes(counts, sizeof(T));
  const auto total = static_cast<std::size_t>(std::accumulate(counts.begin(), counts.end(), 0));
  const auto part_field = make("part", static_cast<std::size_t>(counts[me]));
  const auto whole_field = make("whole", total);
  const auto& part_view = part_field.view;
  const auto& whole_view = whole_field.view;
  auto part = watched(part_field, Order::storage);
  auto whole = watched(whole_field, Order::storage);
  const auto prepare = [&] {
    part.fill(static_cast<std::uint64_t>(me));
    whole.fill(static_cast<std::uint64_t>(100 + me));
  };
  const auto gathered = [&] { // on all ranks
    auto expected = whole.elements();
    const auto own = part.elements();
    MPI_Allgatherv(own.data(), bytes.counts[me], MPI_BYTE, expected.data(), bytes.counts.data(),
                   bytes.offsets.data(), MPI_BYTE, comm.native());
    return expected;
  };
  const auto put_own_part = [&] { // for the forms in place
    prepare();
    auto all = whole.elements();
    const auto own = part.elements();
    std::copy(own.begin(), own.end(), all.begin() + bytes.offsets[me]);
    whole.store(all);
  };
  const auto verify_gathered = [&](const char* form) { whole.expect(gathered(), form); };

  in_all_forms(
      prepare, [&] { allgatherv(comm, part_view, whole_view, counts); },
      [&] { return iallgatherv(comm, part_view, whole_view, wide_counts); }, verify_gathered);
  in_all_forms(
      put_own_part, [&] { allgatherv(comm, whole_view, wide_counts); },
      [&] { return iallgatherv(comm, whole_view, counts); }, verify_gathered);

  prepare();
  const auto learned = allgatherv(comm, part_view);
  EXPECT_EQ(watched(field_of(learned.data)).elements(), gathered());
  EXPECT_EQ(learned.offsets, Counts(counts).offsets());

  for (int root = 0; root < comm.size(); ++root) {
    SCOPED_TRACE("root " + std::to_string(root));
    const bool at_root = me == root;
    const auto verify_at_root = [&](const char* form) {
      const auto all = gathered();
      if (at_root)
        whole.expect(all, form);
      else
        whole.expect_unchanged(form);
    };
    in_all_forms(
        prepare, [&] { gatherv(comm, part_view, whole_view, at_root ? Counts(counts) : Counts(), root); },
        [&] { return igatherv(comm, part_view, whole_view, counts, root); }, verify_at_root);
    in_all_forms(
        put_own_part, [&] { gatherv(comm, at_root ? whole_view : part_view, counts, root); },
        [&] { return igatherv(comm, at_root ? whole_view : part_view, counts, root); }, verify_at_root);

    const auto scattered = [&] {
      auto own = part.elements();
      const auto all = whole.elements();
      MPI_Scatterv(all.data(), bytes.counts.data(), bytes.offsets.data(), MPI_BYTE, own.data(),
                   bytes.counts[me], MPI_BYTE, root, comm.native());
      return own;
    };
    in_all_forms(
        prepare, [&] { scatterv(comm, whole_view, at_root ? Counts(counts) : Counts(), part_view, root); },
        [&] { return iscatterv(comm, whole_view, counts, part_view, root); },
        [&](const char* form) { part.expect(scattered(), form); });
    in_all_forms(
        prepare, [&] { scatterv(comm, at_root ? whole_view : part_view, counts, root); },
        [&] { return iscatterv(comm, at_root ? whole_view : part_view, counts, root); },
        [&](const char* form) {
          const auto own = scattered();
          if (!at_root) part.expect(own, form);
          whole.expect_unchanged(form);
        });
  }

  // rank r sends (r + s) % 3 elements to rank s, and so gets as many from it
  std::vector<int> pairwise;
  for (int s = 0; s < comm.size(); ++s) pairwise.push_back((me + s) % 3);
  const InBytes pair_bytes(pairwise, sizeof(T));
  const auto size = static_cast<std::size_t>(std::accumulate(pairwise.begin(), pairwise.end(), 0));
  const auto out_field = make("out", size);
  const auto in_field = make("in", size);
  const auto& out_view = out_field.view;
  const auto& in_view = in_field.view;
  auto out = watched(out_field, Order::storage);
  auto in = watched(in_field, Order::storage);
  const auto traded = [&] {
    auto expected_in = out.elements();
    const auto sent = out.elements();
    MPI_Alltoallv(sent.data(), pair_bytes.counts.data(), pair_bytes.offsets.data(), MPI_BYTE,
                  expected_in.data(), pair_bytes.counts.data(), pair_bytes.offsets.data(), MPI_BYTE,
                  comm.native());
    return expected_in;
  };
  const auto fill = [&] {
    out.fill(static_cast<std::uint64_t>(7 * me));
    in.fill(static_cast<std::uint64_t>(7 * me + 1));
  };
  in_all_forms(
      fill, [&] { alltoallv(comm, out_view, pairwise, in_view, pairwise); },
      [&] { return ialltoallv(comm, out_view, pairwise, in_view, pairwise); },
      [&](const char* form) { in.expect(traded(), form); });
  Bytes expected_in_place;
  in_all_forms(
      [&] {
        fill();
        expected_in_place = traded();
      },
      [&] { alltoallv(comm, out_view, pairwise); }, [&] { return ialltoallv(comm, out_view, pairwise); },
      [&](const char* form) { out.expect(expected_in_place, form); });
}

/// Rank r sends (r + 2 s) % 4 elements to rank s, the last one nothing to anybody; nobody is told beforehand.
TEST(UnevenParts, AlltoallThatLearnsItsCounts) {
  const Communicator comm(MPI_COMM_WORLD);
  const int me = comm.rank();
  const auto count = [&](int from, int to) { return from == comm.size() - 1 ? 0 : (from + 2 * to) % 4; };
  std::vector<int> counts;
  for (int r = 0; r < comm.size(); ++r) counts.push_back(count(me, r));
  const auto total = static_cast<std::size_t>(Counts(counts).total());
  const auto out = whole<int, Stride>("out", Index<1>{total});
  std::size_t place = 0;
  for (int to = 0; to < comm.size(); ++to)
    for (int i = 0; i < count(me, to); ++i) out.view(place++) = 10000 * me + 100 * to + i;

  const auto [data, offsets] = alltoallv_with_counts(comm, out.view, counts);
  ASSERT_EQ(offsets.size(), static_cast<std::size_t>(comm.size()) + 1);
  EXPECT_EQ(offsets.back(), static_cast<std::int64_t>(data.size()));
  for (int from = 0; from < comm.size(); ++from) {
    EXPECT_EQ(offsets[from + 1] - offsets[from], count(from, me)) << "from " << from;
    for (int i = 0; i < count(from, me); ++i) EXPECT_EQ(data(offsets[from] + i), 10000 * from + 100 * me + i);
  }
}

TEST(UnevenParts, ViewsThatAreMadeHaveALabel) {
  const Communicator comm(MPI_COMM_WORLD);
  int number = comm.rank();
  const std::vector<int> one(static_cast<std::size_t>(comm.size()), 1);
  const Kokkos::View<int*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>> memory(&number, 1);
  const Kokkos::View<int*, Kokkos::HostSpace> view("mine", 1);
  EXPECT_EQ(allgatherv(comm, memory).data.label(), "comm/gathered");
  EXPECT_EQ(allgatherv(comm, view).data.label(), "mine");
  const Kokkos::View<int*, Kokkos::HostSpace> all("all", comm.size());
  EXPECT_EQ(alltoallv_with_counts(comm, all, one).data.label(), "all");
}

TEST(UnevenParts, Contiguous) {
  expect_uneven_parts<int>(
      [](const char* label, std::size_t n) { return whole<int, Right>(label, Index<1>{n}); });
}
TEST(UnevenParts, StridedStructs) {
  expect_uneven_parts<Pair>(
      [](const char* label, std::size_t n) { return whole<Pair, Stride>(label, Index<1>{n}); });
}
/// Parts that are planes of a subview.
TEST(UnevenParts, Planes) {
  expect_uneven_parts<double>([](const char* label, std::size_t n) {
    return inside<double, Left>(label, Index<2>{1, n});
  });
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
