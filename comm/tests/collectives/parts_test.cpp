// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Collective operations between parts and the whole deliver the bits that MPI's deliver, in every form and for Views of
// many shapes. Values, and the barrier.
#include "collective_forms.hpp"

namespace kontor::comm::test {
namespace {

enum { of_part, of_whole, of_other };

/// What MPI moves between the part of each rank and the whole, in bytes. In place, the root has the whole only, and the
/// others have their parts.
class MpiParts {
 public:
  /// `sizes`: the elements of each rank's part.
  MpiParts(const Communicator& comm, const std::vector<int>& sizes, std::size_t element)
      : comm_(comm.native()), rank_(comm.rank()) {
    for (const int n : sizes) {
      offsets_.push_back(counts_.empty() ? 0 : offsets_.back() + counts_.back());
      counts_.push_back(n * static_cast<int>(element));
    }
  }
  Twins::Mpi allgather(bool in_place = false) const {
    return [=, this](const Given& given, void* all) {
      MPI_Allgatherv(in_place ? MPI_IN_PLACE : given[of_part].data(), counts_[rank_], MPI_BYTE, all, counts_.data(),
                     offsets_.data(), MPI_BYTE, comm_);
    };
  }
  Twins::Mpi gather(int root, bool in_place = false) const {
    return [=, this](const Given& given, void* all) {
      MPI_Gatherv(in_place && rank_ == root ? MPI_IN_PLACE : given[of_part].data(), counts_[rank_], MPI_BYTE, all,
                  counts_.data(), offsets_.data(), MPI_BYTE, root, comm_);
    };
  }
  Twins::Mpi scatter(int root, bool in_place = false) const {
    return [=, this](const Given& given, void* own) {
      MPI_Scatterv(given[of_whole].data(), counts_.data(), offsets_.data(), MPI_BYTE,
                   in_place && rank_ == root ? MPI_IN_PLACE : own, counts_[rank_], MPI_BYTE, root, comm_);
    };
  }
  /// As many elements from each rank as to it, of the View of that number.
  Twins::Mpi alltoall(int from) const {
    return [=, this](const Given& given, void* to) {
      MPI_Alltoallv(given[from].data(), counts_.data(), offsets_.data(), MPI_BYTE, to, counts_.data(), offsets_.data(),
                    MPI_BYTE, comm_);
    };
  }

 private:
  MPI_Comm comm_;
  int rank_;
  std::vector<int> counts_;
  std::vector<int> offsets_;
};

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
  if constexpr (which == Which::each_way) {
    views.expect(of_whole, true, mpi.alltoall(of_whole), KONTOR_FORM(alltoall, comm, whole));
    views.expect(of_whole, true, mpi.allgather(), KONTOR_FORMS(allgather, comm, part, whole));
    return;
  }
  views.expect(of_whole, true, mpi.alltoall(of_whole), KONTOR_FORMS(alltoall, comm, whole));
  views.expect(of_whole, true, mpi.allgather(), KONTOR_FORMS(allgather, comm, part, whole));
  views.expect(of_other, true, mpi.alltoall(of_whole), KONTOR_FORMS(alltoall, comm, whole, other));
  views.expect(of_whole, true, mpi.allgather(true), KONTOR_FORMS(allgather, comm, whole));
  for (int root = 0; root < comm.size(); ++root) {
    const bool here = comm.rank() == root;
    const auto bcast_of_mpi = [&](const Given& given, void* all) {
      MPI_Bcast(all, static_cast<int>(given[of_whole].size()), MPI_BYTE, root, comm.native());
    };
    views.expect(of_whole, true, bcast_of_mpi, KONTOR_FORMS(bcast, comm, whole, root));
    views.expect(of_whole, here, mpi.gather(root), KONTOR_FORMS(gather, comm, part, whole, root));
    views.expect(of_whole, here, mpi.gather(root, true),
                 here ? KONTOR_FORMS(gather, comm, whole, root) : KONTOR_FORMS(gather, comm, part, root));
    views.expect(of_part, true, mpi.scatter(root), KONTOR_FORMS(scatter, comm, whole, part, root));
    views.expect(of_part, !here, mpi.scatter(root, true),
                 here ? KONTOR_FORMS(scatter, comm, whole, root) : KONTOR_FORMS(scatter, comm, part, root));
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

template <Which which, class T, class Layout, std::size_t rank, class As = std::identity>
void expect_equal_parts(const Communicator& comm, const Index<rank>& extents, As as = {}) {
  const auto all = extended(extents, static_cast<std::size_t>(comm.size()));
  if constexpr (rank > 0 || !std::is_same_v<Layout, Stride>) // Kokkos has no memory for such a View
    expect_equal_parts<which>(comm, as(whole<T, Layout>("part", extents)), as(whole<T, Layout>("whole", all)),
                              as(whole<T, Layout>("other", all)));
  expect_equal_parts<which>(comm, as(inside<T, Layout>("part", extents)), as(inside<T, Layout>("whole", all)),
                            as(inside<T, Layout>("other", all)));
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
  const auto as = [](const auto& field) { return strided(field); };
  expect_equal_parts<Which::each_way, double, Layout>(comm, Index<0>{}, as);
  expect_equal_parts<Which::each_way, double, Layout>(comm, Index<1>{5}, as);
  expect_equal_parts<Which::each_way, double, Layout>(comm, Index<2>{3, 4}, as);
  expect_equal_parts<Which::each_way, double, Layout>(comm, Index<3>{2, 3, 4}, as);
}
TEST_F(EqualParts, RanksAndLayouts) {
  expect_ranks_0_to_3<Left>(comm);
  expect_ranks_0_to_3<Right>(comm);
  expect_ranks_0_to_3<Stride>(comm);
  expect_equal_parts<Which::each_way, double, Left>(comm, Index<3>{2, 3, 4});
  expect_equal_parts<Which::each_way, int, Right>(comm, Index<1>{7});
  expect_equal_parts<Which::each_way, Kokkos::complex<float>, Right>(comm, Index<2>{3, 2});
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
  const HostView<std::int64_t**, Right> table("table", counts.size(), 2);
  const auto wide_counts = Kokkos::subview(table, Kokkos::ALL, 1);
  for (std::size_t r = 0; r < counts.size(); ++r) wide_counts(r) = counts[r];
  const auto part_field = make("part", static_cast<std::size_t>(counts[me]));
  const auto whole_field = make("whole", static_cast<std::size_t>(Counts(counts).total()));
  const auto& part = part_field.view;
  const auto& whole = whole_field.view;
  Twins views({watched(part_field, Order::storage), watched(whole_field, Order::storage)},
              [&](Watched& view, int number) { view.fill(100 * number + me); });
  const MpiParts mpi(comm, counts, sizeof(T));
  views.expect(of_whole, true, mpi.allgather(), KONTOR_FORM(allgatherv, comm, part, whole, counts));
  views.expect(of_whole, true, mpi.allgather(), KONTOR_FORM(allgatherv, comm, part, whole, wide_counts));
  for (int root = 0; root < comm.size(); ++root) {
    const bool here = me == root;
    const auto at_root = here ? Counts(counts) : Counts();
    views.expect(of_whole, here, mpi.gather(root), KONTOR_FORM(gatherv, comm, part, whole, at_root, root));
    views.expect(of_part, true, mpi.scatter(root), KONTOR_FORM(scatterv, comm, whole, at_root, part, root));
  }
  const auto learned = allgatherv_with_counts(comm, part);
  auto expected = watched(whole_field, Order::storage).elements();
  mpi.allgather()({watched(part_field, Order::storage).elements()}, expected.data());
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
  traded.expect(1, true, pairs.alltoall(0), KONTOR_FORM(alltoallv, comm, out, pairwise, in, pairwise));
  expected = watched(in_field, Order::storage).elements();
  pairs.alltoall(0)({watched(out_field, Order::storage).elements()}, expected.data());
  EXPECT_EQ(watched(field_of(alltoallv_with_counts(comm, out, pairwise).data)).elements(), expected);
  if constexpr (rank_of<std::decay_t<decltype(out)>> == 1) {
    EXPECT_EQ(watched(field_of(alltoallv_with_counts(AlltoallGrid(comm), out, pairwise).data)).elements(), expected);
  }
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
  expect_refused([&] { bcast(comm, 1.5, comm.size()); }, {"there is no rank"});
  expect_refused([&] { gather(comm, 1.5, -1); }, {"there is no rank"});
  expect_values([](int r) { return 1.5 * r; });
  expect_values([](int r) { return static_cast<char>(r); });
  expect_values([](int r) { return r % 2 == 0; });
  expect_values([](int r) { return std::complex<float>(1, static_cast<float>(r)); });
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
