// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Collective operations between parts and the whole deliver the bits that MPI's deliver, in every form and for Views of
// many shapes. Values, and the barrier.
#include "collective_forms.hpp"

namespace kontor::comm::test {
namespace {

using EqualParts = OnRing;

template <std::size_t rank>
Index<rank + 1> extended(const Index<rank>& extents, std::size_t last) {
  Index<rank + 1> extended{};
  std::copy(extents.begin(), extents.end(), extended.begin());
  extended[rank] = last;
  return extended;
}

/// `make(label, extents)` makes a View.
template <std::size_t rank, class Make>
void expect_every_call(const Communicator& comm, const Index<rank>& extents, const Make& make) {
  const auto all = extended(extents, static_cast<std::size_t>(comm.size()));
  HostViews place;
  expect_parts(comm, place, make("part", extents), make("whole", all), make("other", all));
}

/// In one piece, without elements, and strided: of one type, which takes less time to compile.
TEST_F(EqualParts, InEveryForm) {
  with_levels(levels_with_checks, [](const Communicator& comm) {
    const auto in_one_piece = [](const char* label, const auto& extents) { return whole<Pair, Left>(label, extents); };
    expect_every_call(comm, Index<2>{5, 1}, in_one_piece);
    expect_every_call(comm, Index<2>{0, 2}, in_one_piece);
    expect_every_call(comm, Index<2>{3, 2},
                      [](const char* label, const auto& extents) { return inside<Pair, Left>(label, extents); });
  });
}

/// The operations are compiled once, for all Views; a View's type decides how it is lent to them. So all Views are lent
/// in each way: to be read, to be written and both.
template <class Part, class Whole>
void expect_each_way(const Communicator& comm, const Field<Part>& part, const Field<Whole>& whole) {
  HostViews place;
  Twins twins(place, {watched(part, Order::storage), watched(whole, Order::storage)},
              [&](Watched& view, int number) { view.fill(10 * comm.rank() + number + 1); });
  const MpiParts mpi(comm, std::vector<int>(comm.size(), watched(part).bytes()), 1);
  twins(of_whole, true, mpi.alltoall(of_whole), KONTOR_FORM(alltoall, comm, whole.view));
  twins(of_whole, true, mpi.allgather(), KONTOR_FORMS(allgather, comm, part.view, whole.view));
}

TEST_F(EqualParts, RanksAndLayouts) {
  const auto size = static_cast<std::size_t>(ranks);
  for (const auto storage : all_storage)
    expect_each_way(comm, stored<double>(storage, "part", Index<2>{3, 4}),
                    stored<double>(storage, "whole", Index<3>{3, 4, size}));
  expect_each_way(comm, inside<int, Left>("part", Index<0>{}), inside<int, Left>("whole", Index<1>{size}));
}

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

/// Rank r has (2 r + 2) % 4 elements: some have none. And it sends (r + s) % 3 to rank s, from which it gets as many.
/// `make(label, n)` makes a View of n elements.
template <class Make>
void expect_uneven_parts(const Communicator& comm, const Make& make) {
  const int me = comm.rank();
  std::vector<int> counts, pairwise;
  for (int r = 0; r < comm.size(); ++r) {
    counts.push_back((2 * r + 2) % 4);
    pairwise.push_back((me + r) % 3);
  }
  const HostView<std::int64_t**, Right> table("table", counts.size(), 2);
  const auto wide_counts = Kokkos::subview(table, Kokkos::ALL, 1);
  for (std::size_t r = 0; r < counts.size(); ++r) wide_counts(r) = counts[r];
  const auto size = [](const std::vector<int>& counts) { return static_cast<std::size_t>(Counts(counts).total()); };
  const auto part_field = make("part", static_cast<std::size_t>(counts[me])), whole_field = make("whole", size(counts));
  const auto out_field = make("out", size(pairwise)), in_field = make("in", size(pairwise));
  const auto &part = part_field.view, &whole = whole_field.view, &out = out_field.view, &in = in_field.view;
  const auto stored = [](const auto& field) { return watched(field, Order::storage); };
  HostViews place;
  const auto fill = [&](Watched& view, int number) { view.fill(100 * number + me); };
  Twins twins(place, {stored(part_field), stored(whole_field)}, fill);
  const MpiParts mpi(comm, counts, sizeof(part.data()[0]));
  twins(of_whole, true, mpi.allgather(), KONTOR_FORM(allgatherv, comm, part, whole, wide_counts));
  for (int root = 0; root < comm.size(); ++root) {
    const bool here = me == root;
    const auto at_root = here ? Counts(counts) : Counts();
    twins(of_whole, here, mpi.gather(root), KONTOR_FORM(gatherv, comm, part, whole, at_root, root));
    twins(of_part, true, mpi.scatter(root), KONTOR_FORM(scatterv, comm, whole, at_root, part, root));
  }
  const auto expect_learned = [&](const auto& received, const auto& from, const auto& to, const Mpi& by_mpi) {
    auto expected = stored(to).elements();
    by_mpi({stored(from).elements()}, expected.data());
    EXPECT_EQ(watched(field_of(received.data)).elements(), expected);
  };
  const auto learned = allgatherv_with_counts(comm, part);
  expect_learned(learned, part_field, whole_field, mpi.allgather());
  EXPECT_EQ(learned.offsets, Counts(counts).offsets());

  Twins traded(place, {stored(out_field), stored(in_field)}, fill);
  const MpiParts pairs(comm, pairwise, sizeof(part.data()[0]));
  traded(1, true, pairs.alltoall(0), KONTOR_FORM(alltoallv, comm, out, pairwise, in, pairwise));
  expect_learned(alltoallv_with_counts(comm, out, pairwise), out_field, in_field, pairs.alltoall(0));
  if constexpr (rank_of<std::decay_t<decltype(out)>> == 1)
    expect_learned(alltoallv_with_counts(AlltoallGrid(comm), out, pairwise), out_field, in_field, pairs.alltoall(0));
}

/// In one piece, strided, and parts that are planes of a subview.
TEST(UnevenParts, InEveryForm) {
  using Label = const char*;
  with_levels(levels_with_checks, [](const Communicator& comm) {
    for (const auto storage : {Storage::left, Storage::odd})
      expect_uneven_parts(comm, [&](Label label, std::size_t n) { return stored<Pair>(storage, label, Index<1>{n}); });
    expect_uneven_parts(comm, [](Label label, std::size_t n) { return inside<double, Left>(label, Index<2>{1, n}); });
  });
}

struct Sample {
  double weight;
  short index;
  bool operator==(const Sample&) const = default;
};

class Values : public AtLevel {
 protected:
  /// of(r) is the value of rank r.
  template <class Of>
  void expect_values(Of of) {
    using T = decltype(of(0));
    std::vector<T> all;
    for (int r = 0; r < comm.size(); ++r) all.push_back(of(r));
    EXPECT_TRUE(allgather(comm, of(comm.rank())) == all);
    for (int root = 0; root < comm.size(); ++root) {
      EXPECT_TRUE(bcast(comm, of(comm.rank()), root) == of(root)) << root;
      EXPECT_TRUE(ibcast(comm, of(comm.rank()), root).wait() == of(root)) << root;
      EXPECT_TRUE(gather(comm, of(comm.rank()), root) == (comm.rank() == root ? all : std::vector<T>())) << root;
    }
  }
};
INSTANTIATE_TEST_SUITE_P(Levels, Values, testing::ValuesIn(all_levels));

TEST_P(Values, OfManyTypes) {
  expect_values([](int r) { return 1.5 * r; });
  expect_values([](int r) { return r % 2 == 0; });
  expect_values([](int r) { return Sample{0.5 * r, static_cast<short>(r)}; });
  expect_values([](int r) { return std::array<int, 3>{r, r + 1, r + 2}; });
  const auto three = [](double r) { return Kokkos::Array<double, 3>{{r, r + 1, r + 2}}; };
  EXPECT_EQ(bcast(comm, three(rank), last)[2], last + 2);
  EXPECT_EQ(allgather(comm, three(rank)).at(last)[1], last + 1);
}

/// No rank leaves before the last one comes, which takes its time.
TEST_P(Values, BarrierWaitsForAll) {
  if (ranks == 1) return;
  const auto expect_late = [&](auto meet) {
    int arrived = 0;
    MPI_Request request = MPI_REQUEST_NULL;
    if (rank == 0) MPI_Irecv(&arrived, 1, MPI_INT, last, 0, comm.native(), &request);
    if (is_last) {
      const int here = 1;
      MPI_Ssend(&here, 1, MPI_INT, 0, 0, comm.native());
    }
    meet();
    int done = rank != 0;
    if (!done) MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    EXPECT_TRUE(done);
    if (!done) MPI_Wait(&request, MPI_STATUS_IGNORE);
  };
  expect_late([&] { barrier(comm); });
  expect_late([&] { ibarrier(comm).wait(); });
}

} // namespace
} // namespace kontor::comm::test
