// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Collective operations whose ranks have parts of different sizes deliver the bits that MPI's deliver, in every form.
#include "part_calls.hpp"

namespace kontor::comm::test {
namespace {

/// Rank r has (2 r + 2) % 4 elements: some have none.
template <class T, class MakeField>
void expect_uneven_parts(const Communicator& comm, MakeField make) {
  const int me = comm.rank();
  std::vector<int> counts;
  std::vector<int> pairwise; // rank r sends (r + s) % 3 elements to rank s, and so gets as many from it
  for (int r = 0; r < comm.size(); ++r) {
    counts.push_back((2 * r + 2) % 4);
    pairwise.push_back((me + r) % 3);
  }
  const std::vector<std::int64_t> wide_counts(counts.begin(), counts.end());
  const auto part_field = make("part", static_cast<std::size_t>(counts[me]));
  const auto whole_field = make("whole", static_cast<std::size_t>(Counts(counts).total()));
  const auto& part = part_field.view;
  const auto& whole = whole_field.view;
  Twins views({watched(part_field, Order::storage), watched(whole_field, Order::storage)},
              [&](Watched& view, int number) { view.fill(100 * number + me); });
  int root = 0;
  const auto counts_at_root = [&] { return me == root ? Counts(counts) : Counts(); };
  const MpiParts mpi(comm, counts, sizeof(T));
  expect_parts(comm, views, mpi,
               {.allgather = KONTOR_FORMS(allgatherv, comm, part, whole, counts),
                .allgather_in_place = KONTOR_FORMS(allgatherv, comm, whole, wide_counts),
                .gather = KONTOR_FORMS(gatherv, comm, part, whole, counts_at_root(), root),
                .gather_at_root = KONTOR_FORMS(gatherv, comm, whole, counts, root),
                .gather_elsewhere = KONTOR_FORMS(gatherv, comm, part, counts, root),
                .scatter = KONTOR_FORMS(scatterv, comm, whole, counts_at_root(), part, root),
                .scatter_at_root = KONTOR_FORMS(scatterv, comm, whole, counts, root),
                .scatter_elsewhere = KONTOR_FORMS(scatterv, comm, part, counts, root)},
               root);
  const auto learned = allgatherv_with_counts(comm, part);
  auto expected = watched(whole_field, Order::storage).elements();
  mpi.allgather(watched(part_field, Order::storage).elements().data(), expected.data());
  EXPECT_EQ(watched(field_of(learned.data)).elements(), expected);
  EXPECT_EQ(learned.offsets, Counts(counts).offsets());

  const auto size = static_cast<std::size_t>(Counts(pairwise).total());
  const auto out_field = make("out", size);
  const auto in_field = make("in", size);
  const auto& out = out_field.view;
  const auto& in = in_field.view;
  Twins traded({watched(out_field, Order::storage), watched(in_field, Order::storage)},
               [&](Watched& view, int number) { view.fill(7 * me + number); });
  const MpiParts pairs(comm, pairwise, sizeof(T));
  const auto alltoallv_of_mpi = [&](const Given& given, void* to) { pairs.alltoall(given[0].data(), to); };
  traded.expect(1, true, alltoallv_of_mpi, KONTOR_FORMS(alltoallv, comm, out, pairwise, in, pairwise));
  traded.expect(0, true, alltoallv_of_mpi, KONTOR_FORMS(alltoallv, comm, out, pairwise));
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
  with_levels(levels_with_checks, [](const Communicator& comm) {
    expect_uneven_parts<int>(comm, [](Label label, std::size_t n) { return whole<int, Right>(label, Index<1>{n}); });
    expect_uneven_parts<Pair>(comm, [](Label label, std::size_t n) { return whole<Pair, Stride>(label, Index<1>{n}); });
    expect_uneven_parts<double>(comm, [](Label label, std::size_t n) {
      return inside<double, Left>(label, Index<2>{1, n});
    });
  });
}

} // namespace
} // namespace kontor::comm::test
