// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Collective operations whose ranks have parts of different sizes deliver the bits that MPI's deliver, in
// every form.
#include "collective_forms.hpp"

namespace kontor::comm::test {
namespace {

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
  const auto native = comm.native();
  const int me = comm.rank();
  const auto counts = uneven(comm.size());
  const std::vector<std::int64_t> wide_counts(counts.begin(), counts.end());
  const InBytes bytes(counts, sizeof(T));
  const int own_bytes = bytes.counts[me];
  const auto part_field = make("part", static_cast<std::size_t>(counts[me]));
  const auto whole_field = make("whole", static_cast<std::size_t>(Counts(counts).total()));
  const auto& part = part_field.view;
  const auto& whole = whole_field.view;
  enum { of_part, of_whole };
  Twins views({watched(part_field, Order::storage), watched(whole_field, Order::storage)},
              [&](Watched& view, int number) { view.fill(100 * number + me); });
  const auto mpi_allgatherv = [&](const void* own, void* all) {
    MPI_Allgatherv(own, own_bytes, MPI_BYTE, all, bytes.counts.data(), bytes.offsets.data(), MPI_BYTE,
                   native);
  };
  views.expect(
      of_whole, true, [&](const Given&, void* all) { mpi_allgatherv(MPI_IN_PLACE, all); },
      [&] { allgatherv(comm, whole, wide_counts); }, [&] { return iallgatherv(comm, whole, counts); });
  views.expect(
      of_whole, true, [&](const Given& given, void* all) { mpi_allgatherv(given[of_part].data(), all); },
      [&] { allgatherv(comm, part, whole, counts); },
      [&] { return iallgatherv(comm, part, whole, wide_counts); });
  const auto learned = allgatherv_with_counts(comm, part);
  EXPECT_EQ(watched(field_of(learned.data)).elements(), watched(whole_field, Order::storage).elements());
  EXPECT_EQ(learned.offsets, Counts(counts).offsets());

  for (int root = 0; root < comm.size(); ++root) {
    SCOPED_TRACE("root " + std::to_string(root));
    const bool at_root = me == root;
    const auto mpi_gatherv = [&](const void* own, void* all) {
      MPI_Gatherv(own, own_bytes, MPI_BYTE, all, bytes.counts.data(), bytes.offsets.data(), MPI_BYTE, root,
                  native);
    };
    views.expect(
        of_whole, at_root, [&](const Given& given, void* all) { mpi_gatherv(given[of_part].data(), all); },
        [&] { gatherv(comm, part, whole, at_root ? Counts(counts) : Counts(), root); },
        [&] { return igatherv(comm, part, whole, counts, root); });
    views.expect(
        of_whole, at_root,
        [&](const Given& given, void* all) {
          mpi_gatherv(at_root ? MPI_IN_PLACE : given[of_part].data(), all);
        },
        [&] { gatherv(comm, at_root ? whole : part, counts, root); },
        [&] { return igatherv(comm, at_root ? whole : part, counts, root); });
    const auto mpi_scatterv = [&](const Given& given, void* own) {
      MPI_Scatterv(given[of_whole].data(), bytes.counts.data(), bytes.offsets.data(), MPI_BYTE, own,
                   own_bytes, MPI_BYTE, root, native);
    };
    views.expect(
        of_part, true, mpi_scatterv,
        [&] { scatterv(comm, whole, at_root ? Counts(counts) : Counts(), part, root); },
        [&] { return iscatterv(comm, whole, counts, part, root); });
    views.expect(
        of_part, !at_root,
        [&](const Given& given, void* own) { mpi_scatterv(given, at_root ? MPI_IN_PLACE : own); },
        [&] { scatterv(comm, at_root ? whole : part, counts, root); },
        [&] { return iscatterv(comm, at_root ? whole : part, counts, root); });
  }

  // rank r sends (r + s) % 3 elements to rank s, and so gets as many from it
  std::vector<int> pairwise;
  for (int s = 0; s < comm.size(); ++s) pairwise.push_back((me + s) % 3);
  const InBytes pair_bytes(pairwise, sizeof(T));
  const auto size = static_cast<std::size_t>(Counts(pairwise).total());
  const auto out_field = make("out", size);
  const auto in_field = make("in", size);
  const auto& out = out_field.view;
  const auto& in = in_field.view;
  enum { of_out, of_in };
  Twins traded({watched(out_field, Order::storage), watched(in_field, Order::storage)},
               [&](Watched& view, int number) { view.fill(7 * me + number); });
  const auto mpi_alltoallv = [&](const Given& given, void* all) {
    MPI_Alltoallv(given[of_out].data(), pair_bytes.counts.data(), pair_bytes.offsets.data(), MPI_BYTE, all,
                  pair_bytes.counts.data(), pair_bytes.offsets.data(), MPI_BYTE, native);
  };
  traded.expect(
      of_in, true, mpi_alltoallv, [&] { alltoallv(comm, out, pairwise, in, pairwise); },
      [&] { return ialltoallv(comm, out, pairwise, in, pairwise); });
  traded.expect(
      of_out, true, mpi_alltoallv, [&] { alltoallv(comm, out, pairwise); },
      [&] { return ialltoallv(comm, out, pairwise); });
}

TEST(UnevenParts, ViewsThatAreMadeHaveALabel) {
  const Communicator comm(MPI_COMM_WORLD);
  int number = comm.rank();
  const std::vector<int> one(static_cast<std::size_t>(comm.size()), 1);
  const Kokkos::View<int*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>> memory(&number, 1);
  const Ints view("mine", 1);
  EXPECT_EQ(allgatherv_with_counts(comm, memory).data.label(), "comm/received");
  EXPECT_EQ(allgatherv_with_counts(comm, view).data.label(), "mine");
  const Ints all("all", comm.size());
  EXPECT_EQ(alltoallv_with_counts(comm, all, one).data.label(), "all");
}

/// In one piece, strided, and parts that are planes of a subview.
TEST(UnevenParts, InEveryForm) {
  using Label = const char*;
  expect_uneven_parts<int>([](Label label, std::size_t n) { return whole<int, Right>(label, Index<1>{n}); });
  expect_uneven_parts<Pair>(
      [](Label label, std::size_t n) { return whole<Pair, Stride>(label, Index<1>{n}); });
  expect_uneven_parts<double>([](Label label, std::size_t n) {
    return inside<double, Left>(label, Index<2>{1, n});
  });
}

} // namespace
} // namespace kontor::comm::test
