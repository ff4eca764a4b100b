// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Collective operations that move elements deliver the bits that MPI's deliver: in every form, for Views of
// many shapes, and leave the memory around them as it was.
#include "collective_forms.hpp"
#include "methods.hpp"

#include <kontor/comm/comm.hpp>

#include <gtest/gtest.h>

namespace kontor::comm::test {
namespace {

using Left = Kokkos::LayoutLeft;
using Right = Kokkos::LayoutRight;
using Stride = Kokkos::LayoutStride;

/// Every collective of equal parts: `part` is one rank's, `whole` and `other` are those of all.
template <class Part, class Whole>
class EqualParts {
 public:
  EqualParts(const Communicator& comm, const Field<Part>& part, const Field<Whole>& whole,
             const Field<Whole>& other)
      : comm_(comm), part_(part), whole_(whole), other_(other) {}

  void expect_all() {
    expect_allgather();
    expect_alltoall();
    for (root_ = 0; root_ < comm_.size(); ++root_) {
      SCOPED_TRACE("root " + std::to_string(root_));
      expect_bcast();
      expect_gather();
      expect_scatter();
    }
  }

 private:
  using T = ValueOf<Part>;
  using Elements = std::vector<T>;

  bool at_root() const { return comm_.rank() == root_; }
  auto prepare() {
    return [this] {
      const auto seed = static_cast<std::uint64_t>(10 * comm_.rank());
      part_.fill(seed + 1);
      whole_.fill(seed + 2);
      other_.fill(seed + 3);
      part_elements_ = part_.elements();
      whole_elements_ = whole_.elements();
    };
  }
  std::byte* mine(Elements& all) const {
    return reinterpret_cast<std::byte*>(all.data()) + comm_.rank() * bytes();
  }
  int bytes() const { return part_.bytes(); }

  void expect_bcast() {
    const auto verify = [&](const char* form) {
      auto expected = whole_elements_;
      MPI_Bcast(expected.data(), whole_.bytes(), MPI_BYTE, root_, comm_.native());
      whole_.expect(expected, form);
    };
    in_all_forms(
        prepare(), [&] { bcast(comm_, whole_.view(), root_); },
        [&] { return ibcast(comm_, whole_.view(), root_); }, verify);
  }

  void expect_gather() {
    const auto verify = [&](const char* form) {
      auto expected = whole_elements_;
      MPI_Gather(part_elements_.data(), bytes(), MPI_BYTE, expected.data(), bytes(), MPI_BYTE, root_,
                 comm_.native());
      if (at_root())
        whole_.expect(expected, form);
      else
        whole_.expect_unchanged(form);
      part_.expect_unchanged(form);
    };
    const Kokkos::View<const T*, Kokkos::HostSpace> nothing;
    in_all_forms(
        prepare(), [&] { gather(comm_, part_.view(), whole_.view(), root_); },
        [&] { return igather(comm_, part_.view(), whole_.view(), root_); }, verify);

    const auto verify_in_place = [&](const char* form) {
      auto expected = whole_elements_;
      MPI_Gather(at_root() ? MPI_IN_PLACE : part_elements_.data(), bytes(), MPI_BYTE, expected.data(),
                 bytes(), MPI_BYTE, root_, comm_.native());
      if (at_root()) whole_.expect(expected, form);
      part_.expect_unchanged(form);
    };
    prepare()();
    at_root() ? gather(comm_, whole_.view(), root_) : gather(comm_, part_.view(), root_);
    verify_in_place("in place");
    prepare()();
    at_root() ? void(igather(comm_, whole_.view(), root_).wait())
              : void(igather(comm_, part_.view(), root_).wait());
    verify_in_place("in place, wait()");
  }

  void expect_scatter() {
    const auto verify = [&](const char* form) {
      auto expected = part_elements_;
      MPI_Scatter(whole_elements_.data(), bytes(), MPI_BYTE, expected.data(), bytes(), MPI_BYTE, root_,
                  comm_.native());
      part_.expect(expected, form);
      whole_.expect_unchanged(form);
    };
    in_all_forms(
        prepare(), [&] { scatter(comm_, whole_.view(), part_.view(), root_); },
        [&] { return iscatter(comm_, whole_.view(), part_.view(), root_); }, verify);

    const auto verify_in_place = [&](const char* form) {
      auto expected = part_elements_;
      MPI_Scatter(whole_elements_.data(), bytes(), MPI_BYTE, at_root() ? MPI_IN_PLACE : expected.data(),
                  bytes(), MPI_BYTE, root_, comm_.native());
      if (!at_root()) part_.expect(expected, form);
      whole_.expect_unchanged(form);
    };
    prepare()();
    at_root() ? scatter(comm_, whole_.view(), root_) : scatter(comm_, part_.view(), root_);
    verify_in_place("in place");
    prepare()();
    at_root() ? void(iscatter(comm_, whole_.view(), root_).wait())
              : void(iscatter(comm_, part_.view(), root_).wait());
    verify_in_place("in place, wait()");
  }

  void expect_allgather() {
    const auto verify = [&](const char* form) {
      auto expected = whole_elements_;
      MPI_Allgather(part_elements_.data(), bytes(), MPI_BYTE, expected.data(), bytes(), MPI_BYTE,
                    comm_.native());
      whole_.expect(expected, form);
      part_.expect_unchanged(form);
    };
    in_all_forms(
        prepare(), [&] { allgather(comm_, part_.view(), whole_.view()); },
        [&] { return iallgather(comm_, part_.view(), whole_.view()); }, verify);
    in_all_forms(
        prepare(), [&] { allgather(comm_, whole_.view()); }, [&] { return iallgather(comm_, whole_.view()); },
        [&](const char* form) {
          auto expected = whole_elements_;
          const Elements own(expected.begin() + comm_.rank() * part_.count(),
                             expected.begin() + (comm_.rank() + 1) * part_.count());
          MPI_Allgather(own.data(), bytes(), MPI_BYTE, expected.data(), bytes(), MPI_BYTE, comm_.native());
          whole_.expect(expected, form);
        });
  }

  void expect_alltoall() {
    const auto expected_of = [&] {
      auto expected = whole_elements_;
      MPI_Alltoall(whole_elements_.data(), bytes(), MPI_BYTE, expected.data(), bytes(), MPI_BYTE,
                   comm_.native());
      return expected;
    };
    in_all_forms(
        prepare(), [&] { alltoall(comm_, whole_.view(), other_.view()); },
        [&] { return ialltoall(comm_, whole_.view(), other_.view()); },
        [&](const char* form) {
          other_.expect(expected_of(), form);
          whole_.expect_unchanged(form);
        });
    in_all_forms(
        prepare(), [&] { alltoall(comm_, whole_.view()); }, [&] { return ialltoall(comm_, whole_.view()); },
        [&](const char* form) { whole_.expect(expected_of(), form); });
  }

  const Communicator& comm_;
  Watched<Part> part_;
  Watched<Whole> whole_;
  Watched<Whole> other_;
  Elements part_elements_;
  Elements whole_elements_;
  int root_ = 0;
};

template <std::size_t rank>
Index<rank + 1> extended(const Index<rank>& extents, std::size_t last) {
  Index<rank + 1> extended{};
  std::copy(extents.begin(), extents.end(), extended.begin());
  extended[rank] = last;
  return extended;
}

template <class T, class Layout, std::size_t rank>
void expect_equal_parts(const Index<rank>& extents) {
  const Communicator comm(MPI_COMM_WORLD);
  const auto all = extended(extents, static_cast<std::size_t>(comm.size()));
  if constexpr (rank > 0 || !std::is_same_v<Layout, Stride>) // Kokkos has no memory for such a View
    EqualParts(comm, whole<T, Layout>("part", extents), whole<T, Layout>("whole", all),
               whole<T, Layout>("other", all))
        .expect_all();
  EqualParts(comm, inside<T, Layout>("part", extents), inside<T, Layout>("whole", all),
             inside<T, Layout>("other", all))
      .expect_all();
}

template <class T, class Layout>
void expect_ranks_0_to_3() {
  expect_equal_parts<T, Layout>(Index<0>{});
  expect_equal_parts<T, Layout>(Index<1>{5});
  expect_equal_parts<T, Layout>(Index<2>{3, 4});
  expect_equal_parts<T, Layout>(Index<3>{2, 3, 4});
}

TEST(EqualParts, DoubleLeft) {
  expect_ranks_0_to_3<double, Left>();
}
TEST(EqualParts, DoubleRight) {
  expect_ranks_0_to_3<double, Right>();
}
TEST(EqualParts, DoubleStride) {
  expect_ranks_0_to_3<double, Stride>();
}
TEST(EqualParts, Int) {
  expect_equal_parts<int, Right>(Index<1>{7});
}
TEST(EqualParts, Complex) {
  expect_equal_parts<Kokkos::complex<float>, Right>(Index<2>{3, 2});
}
TEST(EqualParts, Struct) {
  expect_equal_parts<Pair, Left>(Index<2>{3, 2});
}
TEST(EqualParts, NoElements) {
  expect_equal_parts<double, Right>(Index<1>{0});
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
struct Bytes {
  std::vector<int> counts;
  std::vector<int> offsets;
  Bytes(const std::vector<int>& elements, std::size_t size) {
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
  const Bytes bytes(counts, sizeof(T));
  const auto total = static_cast<std::size_t>(std::accumulate(counts.begin(), counts.end(), 0));
  Watched part(make("part", static_cast<std::size_t>(counts[me])));
  Watched whole(make("whole", total));
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
    std::copy(own.begin(), own.end(), all.begin() + bytes.offsets[me] / static_cast<int>(sizeof(T)));
    whole.store(all);
  };
  const auto verify_gathered = [&](const char* form) { whole.expect(gathered(), form); };

  in_all_forms(
      prepare, [&] { allgatherv(comm, part.view(), whole.view(), counts); },
      [&] { return iallgatherv(comm, part.view(), whole.view(), wide_counts); }, verify_gathered);
  in_all_forms(
      put_own_part, [&] { allgatherv(comm, whole.view(), wide_counts); },
      [&] { return iallgatherv(comm, whole.view(), counts); }, verify_gathered);

  prepare();
  const auto learned = allgatherv(comm, part.view());
  auto expected = gathered();
  EXPECT_TRUE(equal_bits(std::span(learned.data.data(), learned.data.size()), std::span(expected)));
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
        prepare, [&] { gatherv(comm, part.view(), whole.view(), at_root ? Counts(counts) : Counts(), root); },
        [&] { return igatherv(comm, part.view(), whole.view(), counts, root); }, verify_at_root);
    in_all_forms(
        put_own_part, [&] { gatherv(comm, at_root ? whole.view() : part.view(), counts, root); },
        [&] { return igatherv(comm, at_root ? whole.view() : part.view(), counts, root); }, verify_at_root);

    const auto scattered = [&] {
      auto own = part.elements();
      const auto all = whole.elements();
      MPI_Scatterv(all.data(), bytes.counts.data(), bytes.offsets.data(), MPI_BYTE, own.data(),
                   bytes.counts[me], MPI_BYTE, root, comm.native());
      return own;
    };
    in_all_forms(
        prepare,
        [&] { scatterv(comm, whole.view(), at_root ? Counts(counts) : Counts(), part.view(), root); },
        [&] { return iscatterv(comm, whole.view(), counts, part.view(), root); },
        [&](const char* form) { part.expect(scattered(), form); });
    in_all_forms(
        prepare, [&] { scatterv(comm, at_root ? whole.view() : part.view(), counts, root); },
        [&] { return iscatterv(comm, at_root ? whole.view() : part.view(), counts, root); },
        [&](const char* form) {
          const auto own = scattered();
          if (!at_root) part.expect(own, form);
          whole.expect_unchanged(form);
        });
  }

  // rank r sends (r + s) % 3 elements to rank s, and so gets as many from it
  std::vector<int> pairwise;
  for (int s = 0; s < comm.size(); ++s) pairwise.push_back((me + s) % 3);
  const Bytes pair_bytes(pairwise, sizeof(T));
  const auto size = static_cast<std::size_t>(std::accumulate(pairwise.begin(), pairwise.end(), 0));
  Watched out(make("out", size));
  Watched in(make("in", size));
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
      fill, [&] { alltoallv(comm, out.view(), pairwise, in.view(), pairwise); },
      [&] { return ialltoallv(comm, out.view(), pairwise, in.view(), pairwise); },
      [&](const char* form) { in.expect(traded(), form); });
  std::vector<T> expected_in_place;
  in_all_forms(
      [&] {
        fill();
        expected_in_place = traded();
      },
      [&] { alltoallv(comm, out.view(), pairwise); }, [&] { return ialltoallv(comm, out.view(), pairwise); },
      [&](const char* form) { out.expect(expected_in_place, form); });
}

template <class T>
void expect_uneven_parts() {
  expect_uneven_parts<T>(
      [](const char* label, std::size_t n) { return whole<T, Right>(label, Index<1>{n}); });
  expect_uneven_parts<T>(
      [](const char* label, std::size_t n) { return whole<T, Stride>(label, Index<1>{n}); });
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

TEST(UnevenParts, Int) {
  expect_uneven_parts<int>();
}
TEST(UnevenParts, Double) {
  expect_uneven_parts<double>();
}
TEST(UnevenParts, Complex) {
  expect_uneven_parts<std::complex<double>>();
}
TEST(UnevenParts, Struct) {
  expect_uneven_parts<Pair>();
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
