// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Values that all ranks get from one, or one from all; and the barrier, which moves nothing.
#include "comm_test.hpp"

#include <array>
#include <complex>

namespace kontor::comm::test {
namespace {

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
  expect_values([](int r) { return static_cast<char>(r); });
  expect_values([](int r) { return r % 2 == 0; });
  expect_values([](int r) { return std::complex<float>(1, static_cast<float>(r)); });
  expect_values([](int r) { return Sample{0.5 * r, static_cast<short>(r)}; });
  expect_values([](int r) { return std::array<int, 3>{r, r + 1, r + 2}; });
}

TEST_P(Values, KokkosArrays) {
  using Three = Kokkos::Array<double, 3>;
  const double rank = comm.rank();
  const auto last = bcast(comm, Three{{rank, rank + 1, rank + 2}}, comm.size() - 1);
  EXPECT_EQ(last[2], comm.size() + 1);
  const auto all = allgather(comm, Three{{rank, rank + 1, rank + 2}});
  for (int r = 0; r < comm.size(); ++r) EXPECT_EQ(all.at(r)[1], r + 1);
}

TEST_P(Values, WrongRoot) {
  expect_refused([&] { bcast(comm, 1.5, comm.size()); }, {"there is no rank"});
  expect_refused([&] { gather(comm, 1.5, -1); }, {"there is no rank"});
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
