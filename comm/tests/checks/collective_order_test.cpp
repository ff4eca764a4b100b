// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What only all ranks together see wrong in a collective call (check level `cross_rank`).
#include "comm_test.hpp"

#include <regex>

namespace kontor::comm::test {
namespace {

class CrossRank : public OnRing {
 protected:
  CrossRank() : OnRing({.check = CheckLevel::cross_rank}) {}
  Doubles four{"four", 4};
  Doubles five{"five", 5};
  Doubles whole{"whole", static_cast<std::size_t>(4 * ranks)};
  Plane right{"right", 2, 3};
  HostView<double**, Left> left{"left", 2, 3};
  std::string bcast_of_four = "bcast of View 'four', (4) double, root 0";
  std::string four_into_whole =
      fmt::format("of View 'four', (4) double, into View 'whole', ({}) double, 4 x double a rank", 4 * ranks);

  /// Rank 0 makes the one call, the last rank the other.
  template <class Operation>
  void expect_calls(Operation operation, const std::string& first, const std::string& other) {
    EXPECT_EQ(text_of<AgreedError>(operation),
              fmt::format("rank 0 calls {}, but rank {} calls {}", first, last, other));
  }
  void SetUp() override {
    if (ranks == 1) GTEST_SKIP() << "one rank agrees with itself";
  }
  void TearDown() override { expect_usable(comm); }
};

TEST_F(CrossRank, OrderRootScalarExtentsAndLayouts) {
  expect_calls([&] { is_last ? void(allreduce(comm, five, ReduceOp::sum)) : bcast(comm, four, 0); }, bcast_of_four,
               "allreduce of View 'five', (5) double, sum");
  expect_calls([&] { is_last ? barrier(comm) : allgather(comm, four, whole); }, "allgather " + four_into_whole,
               "barrier");
  expect_calls([&] { bcast(comm, four, is_last ? last : 0); }, bcast_of_four,
               fmt::format("bcast of View 'four', (4) double, root {}", last));
  const HostView<float*> floats("floats", 4);
  expect_calls([&] { is_last ? bcast(comm, floats, 0) : bcast(comm, four, 0); }, bcast_of_four,
               "bcast of View 'floats', (4) float, root 0");
  expect_calls([&] { allreduce(comm, is_last ? five : four, ReduceOp::sum); },
               "allreduce of View 'four', (4) double, sum", "allreduce of View 'five', (5) double, sum");
  expect_calls([&] { gather(comm, is_last ? five : four, whole, 0); }, "gather " + four_into_whole + ", root 0",
               "gather of View 'five', (5) double, 5 x double a rank, root 0");
  expect_calls([&] { is_last ? bcast(comm, left, 0) : bcast(comm, right, 0); },
               "bcast of View 'right', (2, 3) double with the last index fastest, root 0",
               "bcast of View 'left', (2, 3) double with the first index fastest, root 0");
}

TEST_F(CrossRank, Operations) {
  expect_calls([&] { allreduce(comm, four, is_last ? ReduceOp::max : ReduceOp::sum); },
               "allreduce of View 'four', (4) double, sum", "allreduce of View 'four', (4) double, max");
  const auto text = text_of<AgreedError>([&] {
    is_last ? allreduce(comm, four, commutative(std::plus<>())) : allreduce(comm, four, std::multiplies<>());
  });
  EXPECT_TRUE(std::regex_match(
      text, std::regex("rank 0 calls allreduce of View 'four', \\(4\\) double, non-commutative functor .*multiplies.*, "
                       "but rank \\d calls allreduce of View 'four', \\(4\\) double, commutative functor .*plus.*")))
      << text;
}

TEST_F(CrossRank, LocalProblemOfOneRank) {
  const auto place = fmt::format("on rank {}: ", last);
  expect_error<UsageError>([&] { bcast(comm, four, is_last ? ranks : 0); },
                           {place + "bcast of View 'four'", fmt::format("root {0}: there is no rank {0}", ranks)});
  expect_error<UsageError>([&] { gather(comm, four, is_last ? five : whole, last); },
                           {place + "gather of View 'four', (4) double, into View 'five'",
                            fmt::format("must have {} elements, those of all ranks, but has 5", 4 * ranks)});
  expect_error<UsageError>([&] { scan(comm, left, right, ReduceOp::sum); },
                           {"on rank 0: scan of View 'left' into View 'right', (2, 3) double",
                            "View 'left' is (2, 3) double with the first index fastest",
                            "View 'right' is (2, 3) double with the last index fastest"});
}

TEST_F(CrossRank, Counts) {
  const std::vector<int> counts(ranks, 4);
  const auto from_last = fmt::format("rank {} sends 5 elements to rank 0, which expects 4", last);
  expect_error<AgreedError>([&] { gatherv(comm, is_last ? five : four, whole, counts, 0); }, {"gatherv: " + from_last});
  expect_error<AgreedError>(
      [&] { allgatherv(comm, four, whole, counts), scatterv(comm, whole, counts, is_last ? five : four, 0); },
      {fmt::format("scatterv: rank 0 sends 4 elements to rank {}, which expects 5", last)});
  auto sends = counts;
  Doubles out = whole;
  if (is_last) {
    sends[0] = 5;
    out = Doubles("out", whole.size() + 1);
  }
  const Doubles in("in", whole.size());
  expect_error<AgreedError>([&] { alltoallv(comm, out, sends, in, counts); }, {"alltoallv: " + from_last});
}

/// The last rank does not come; and then comes too late. Nor does it come to a non-blocking call.
TEST_F(CrossRank, MissingRank) {
  const Communicator waiting(MPI_COMM_WORLD, {.check = CheckLevel::cross_rank, .timeout = 0.5});
  const auto others = ranks == 2 ? std::string("0") : fmt::format("0-{}", last - 1);
  if (is_last) MPI_Barrier(MPI_COMM_WORLD);
  const auto missing = fmt::format("ranks that called it: {}; missing: {}", others, last);
  expect_error<Error>([&] { bcast(waiting, four, 0); }, {bcast_of_four, " 0.5 s", is_last ? "given up" : missing});
  if (!is_last) MPI_Barrier(MPI_COMM_WORLD);
  const Communicator another(MPI_COMM_WORLD, waiting.options());
  if (!is_last) {
    auto request = ibarrier(another);
    expect_error<Error>([&] { request.wait(); }, {"ibarrier", "is not complete within 0.5 s"});
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

} // namespace
} // namespace kontor::comm::test
