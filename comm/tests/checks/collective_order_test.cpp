// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What only all ranks together see wrong in a collective call (check level `cross_rank`).
#include "error_text.hpp"
#include "methods.hpp"
#include "views.hpp"

#include <kontor/comm/comm.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <regex>

namespace kontor::comm::test {
namespace {

using Doubles = Kokkos::View<double*, Kokkos::HostSpace>;
using Plane = Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::HostSpace>;

Options compared(double timeout = 20) {
  Options options;
  options.check = CheckLevel::cross_rank;
  options.timeout = timeout;
  return options;
}

/// Two ranks that do not make the same call.
class CrossRank : public testing::Test {
 protected:
  Communicator comm{MPI_COMM_WORLD, compared()};
  int ranks = comm.size();
  int last = ranks - 1;
  bool is_last = comm.rank() == last;
  Doubles four{"four", 4};
  Doubles five{"five", 5};
  Doubles whole{"whole", static_cast<std::size_t>(4 * ranks)};

  template <class Operation>
  std::string differ(Operation operation) {
    return text_of<AgreedError>(operation);
  }
  std::string but(const std::string& first, const std::string& other) const {
    return fmt::format("rank 0 calls {}, but rank {} calls {}", first, last, other);
  }
  void SetUp() override {
    if (ranks == 1) GTEST_SKIP() << "one rank agrees with itself";
  }
  void TearDown() override { expect_usable(comm); }
};

TEST_F(CrossRank, Order) {
  EXPECT_EQ(differ([&] { is_last ? void(allreduce(comm, five, ReduceOp::sum)) : bcast(comm, four, 0); }),
            but("bcast of View 'four', (4) double, root 0", "allreduce of View 'five', (5) double, sum"));
  EXPECT_EQ(differ([&] { is_last ? barrier(comm) : allgather(comm, four, whole); }),
            but(fmt::format(
                    "allgather of View 'four', (4) double, into View 'whole', ({}) double, 4 x double a rank",
                    4 * ranks),
                "barrier"));
}

TEST_F(CrossRank, Root) {
  EXPECT_EQ(differ([&] { bcast(comm, four, is_last ? last : 0); }),
            but("bcast of View 'four', (4) double, root 0",
                fmt::format("bcast of View 'four', (4) double, root {}", last)));
}

TEST_F(CrossRank, Scalar) {
  const Kokkos::View<float*, Kokkos::HostSpace> floats("floats", 4);
  EXPECT_EQ(differ([&] { is_last ? bcast(comm, floats, 0) : bcast(comm, four, 0); }),
            but("bcast of View 'four', (4) double, root 0", "bcast of View 'floats', (4) float, root 0"));
}

TEST_F(CrossRank, Extents) {
  EXPECT_EQ(differ([&] { allreduce(comm, is_last ? five : four, ReduceOp::sum); }),
            but("allreduce of View 'four', (4) double, sum", "allreduce of View 'five', (5) double, sum"));
  EXPECT_EQ(
      differ([&] { gather(comm, is_last ? five : four, whole, 0); }),
      but(fmt::format("gather of View 'four', (4) double, into View 'whole', ({}) double, 4 x double a rank, "
                      "root 0",
                      4 * ranks),
          "gather of View 'five', (5) double, 5 x double a rank, root 0"));
}

TEST_F(CrossRank, Layouts) {
  const Plane right("right", 2, 3);
  const Kokkos::View<double**, Kokkos::LayoutLeft, Kokkos::HostSpace> left("left", 2, 3);
  EXPECT_EQ(differ([&] { is_last ? bcast(comm, left, 0) : bcast(comm, right, 0); }),
            but("bcast of View 'right', (2, 3) double with the last index fastest, root 0",
                "bcast of View 'left', (2, 3) double with the first index fastest, root 0"));
}

TEST_F(CrossRank, LayoutsOfTheTwoViewsOfAReduction) {
  const Plane right("right", 2, 3);
  const Kokkos::View<double**, Kokkos::LayoutLeft, Kokkos::HostSpace> left("left", 2, 3);
  EXPECT_EQ(
      text_of<UsageError>([&] { scan(comm, left, right, ReduceOp::sum); }),
      "on rank 0: scan of View 'left' into View 'right', (2, 3) double with the first index fastest, sum: "
      "View 'left' is (2, 3) double with the first index fastest, but View 'right' is (2, 3) double with the "
      "last index fastest");
}

TEST_F(CrossRank, Operations) {
  EXPECT_EQ(differ([&] { allreduce(comm, four, is_last ? ReduceOp::max : ReduceOp::sum); }),
            but("allreduce of View 'four', (4) double, sum", "allreduce of View 'four', (4) double, max"));
  const auto text = differ([&] {
    is_last ? allreduce(comm, four, commutative(std::plus<>())) : allreduce(comm, four, std::multiplies<>());
  });
  EXPECT_TRUE(std::regex_match(
      text,
      std::regex(
          "rank 0 calls allreduce of View 'four', \\(4\\) double, non-commutative functor .*multiplies.*, "
          "but rank \\d calls allreduce of View 'four', \\(4\\) double, commutative functor .*plus.*")))
      << text;
}

TEST_F(CrossRank, BlockingAndNonblocking) {
  EXPECT_EQ(differ([&] { is_last ? bcast(comm, four, 0) : void(ibcast(comm, four, 0).wait()); }),
            but("ibcast of View 'four', (4) double, root 0", "bcast of View 'four', (4) double, root 0"));
  comm = Communicator(MPI_COMM_WORLD, compared()); // what was begun cannot end
}

/// What one rank sees alone becomes the error of all.
TEST_F(CrossRank, LocalProblemOfOneRank) {
  EXPECT_EQ(
      text_of<UsageError>([&] { bcast(comm, four, is_last ? ranks : 0); }),
      fmt::format(
          "on rank {}: bcast of View 'four', (4) double, root {}: there is no rank {}; ranks are 0 to {}",
          last, ranks, ranks, last));
  EXPECT_EQ(
      text_of<UsageError>([&] { gather(comm, four, is_last ? five : whole, last); }),
      fmt::format(
          "on rank {0}: gather of View 'four', (4) double, into View 'five', (5) double, 4 x double a "
          "rank, root {0}: View 'five', (5) double must have {1} elements, those of all ranks, but has 5",
          last, 4 * ranks));
}

TEST_F(CrossRank, CountsOfAGather) {
  std::vector<int> counts(ranks, 4);
  EXPECT_EQ(differ([&] { gatherv(comm, is_last ? five : four, whole, counts, 0); }),
            fmt::format("gatherv: rank {} sends 5 elements to rank 0, which expects 4", last));
  EXPECT_EQ(differ([&] {
              allgatherv(comm, four, whole, counts), scatterv(comm, whole, counts, is_last ? five : four, 0);
            }),
            fmt::format("scatterv: rank 0 sends 4 elements to rank {}, which expects 5", last));
}

TEST_F(CrossRank, CountsOfAnAlltoall) {
  std::vector<int> sends(ranks, 4), receives(ranks, 4);
  Doubles out = whole;
  if (is_last) {
    sends[0] = 5;
    out = Doubles("out", static_cast<std::size_t>(4 * ranks + 1));
  }
  const Doubles in("in", static_cast<std::size_t>(4 * ranks));
  EXPECT_EQ(differ([&] { alltoallv(comm, out, sends, in, receives); }),
            fmt::format("alltoallv: rank {} sends 5 elements to rank 0, which expects 4", last));
}

/// The two ends see it, and tell the others, of whom nothing is wrong between two.
TEST_F(CrossRank, CountsOfANonblockingCall) {
  const Communicator waiting(MPI_COMM_WORLD, compared());
  const std::vector<int> counts(ranks, 4);
  const Doubles three("three", 3);
  auto request = igatherv(waiting, is_last ? three : four, whole, counts, 0);
  EXPECT_EQ(text_of<AgreedError>([&] { request.wait(); }),
            fmt::format("igatherv: rank {} sends 3 elements to rank 0, which expects 4", last));
  MPI_Barrier(MPI_COMM_WORLD);
}

/// Every collective still works at this level.
TEST_F(CrossRank, RightCallsPass) {
  const std::vector<int> counts(ranks, 4);
  const Doubles other("other", static_cast<std::size_t>(4 * ranks));
  bcast(comm, four, last);
  (void)ibcast(comm, four, last).wait();
  allreduce(comm, four, five.size() == 5 ? ReduceOp::sum : ReduceOp::max);
  (void)iallreduce(comm, four, ReduceOp::sum).wait();
  gatherv(comm, four, whole, counts, last);
  (void)igatherv(comm, four, whole, counts, last).wait();
  scatterv(comm, whole, counts, four, last);
  allgatherv(comm, four, whole, counts);
  alltoallv(comm, whole, counts, other, counts);
  EXPECT_EQ(allgatherv_with_counts(comm, four).data.size(), whole.size());
  EXPECT_EQ(alltoallv_with_counts(comm, whole, counts).data.size(), whole.size());
  EXPECT_EQ(iallreduce(comm, 1, ReduceOp::sum).wait(), ranks);
  EXPECT_EQ(exscan(comm, 1, ReduceOp::sum), comm.rank());
  barrier(comm);
  (void)ibarrier(comm).wait();
}

/// The last rank does not come; and then comes too late.
TEST_F(CrossRank, MissingRank) {
  const Communicator waiting(MPI_COMM_WORLD, compared(0.5));
  const auto others = ranks == 2 ? std::string("0") : fmt::format("0-{}", last - 1);
  if (is_last) MPI_Barrier(MPI_COMM_WORLD);
  const auto text = text_of<Error>([&] { bcast(waiting, four, 0); });
  if (!is_last) {
    EXPECT_EQ(
        text,
        fmt::format(
            "bcast of View 'four', (4) double, root 0: waited 0.5 s for all ranks; ranks that called it: {}; "
            "missing: {}",
            others, last));
    MPI_Barrier(MPI_COMM_WORLD);
  } else {
    EXPECT_EQ(text,
              "bcast of View 'four', (4) double, root 0: the ranks came more than 0.5 s apart, and some have "
              "given up");
  }
}

/// Nor does it come to a non-blocking call; test() tells as well.
TEST_F(CrossRank, MissingRankOfANonblockingCall) {
  const Communicator waiting(MPI_COMM_WORLD, compared(0.5));
  if (!is_last) {
    auto request = ibarrier(waiting);
    const auto text = text_of<Error>([&] {
      while (!request.test()) {
      }
    });
    EXPECT_EQ(text.rfind("ibarrier: waited 0.5 s for all ranks; ranks that called it: 0", 0), 0u) << text;
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

/// A non-blocking barrier that ranks come to while others still wait for their messages: legal, so no error.
TEST_F(CrossRank, NonblockingCallsDoNotWait) {
  auto meeting = comm.rank() == 0 ? ibarrier(comm) : Request<>();
  const int next = (comm.rank() + 1) % ranks;
  int token = 0;
  if (comm.rank() == 0) {
    MPI_Send(&token, 1, MPI_INT, next, 0, comm.native());
    MPI_Recv(&token, 1, MPI_INT, last, 0, comm.native(), MPI_STATUS_IGNORE);
  } else {
    MPI_Recv(&token, 1, MPI_INT, comm.rank() - 1, 0, comm.native(), MPI_STATUS_IGNORE);
    MPI_Send(&token, 1, MPI_INT, next, 0, comm.native());
    meeting = ibarrier(comm);
  }
  meeting.wait();
}

} // namespace
} // namespace kontor::comm::test
