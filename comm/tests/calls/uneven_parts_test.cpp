// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Collective operations whose ranks have parts of different sizes deliver the bits that MPI's deliver, in
// every form.
#include "collective_forms.hpp"
#include "methods.hpp"

#include <kontor/comm/comm.hpp>

#include <gtest/gtest.h>

#include <numeric>

namespace kontor::comm::test {
namespace {

using Left = Kokkos::LayoutLeft;
using Right = Kokkos::LayoutRight;
using Stride = Kokkos::LayoutStride;

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
  const auto learned = allgatherv_with_counts(comm, part_view);
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
  EXPECT_EQ(allgatherv_with_counts(comm, memory).data.label(), "comm/received");
  EXPECT_EQ(allgatherv_with_counts(comm, view).data.label(), "mine");
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

} // namespace
} // namespace kontor::comm::test
