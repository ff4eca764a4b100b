// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What only all ranks together see wrong in a collective call (check level `cross_rank`).
#include "comm_test.hpp"

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

  /// The last rank makes the other call.
  template <class Call, class Other>
  void expect_differ(const Call& call, const std::string& text, const Other& other, const std::string& other_text) {
    expect_error<AgreedError>([&] { is_last ? void(other()) : void(call()); },
                              {"rank 0 calls " + text, fmt::format(", but rank {} calls {}", last, other_text)});
  }
  void SetUp() override {
    if (ranks == 1) GTEST_SKIP() << "one rank agrees with itself";
  }
  void TearDown() override { expect_usable(comm); }
};

TEST_F(CrossRank, OrderRootScalarExtentsLayoutsAndOperations) {
  const auto sum = ReduceOp::sum;
  const auto bcast_four = [&] { bcast(comm, four, 0); };
  const auto sum_four = [&] { allreduce(comm, four, sum); };
  const std::string of_four = "allreduce of View 'four', (4) double, ", bcast_of = "bcast of View ";
  expect_differ(
      bcast_four, bcast_of_four, [&] { allreduce(comm, five, sum); }, "allreduce of View 'five'");
  expect_differ([&] { allgather(comm, four, whole); }, "allgather " + four_into_whole, [&] { barrier(comm); },
                "barrier");
  expect_differ(
      bcast_four, bcast_of_four, [&] { bcast(comm, four, last); },
      bcast_of + fmt::format("'four', (4) double, root {}", last));
  expect_differ(
      bcast_four, bcast_of_four, [&] { bcast(comm, HostView<float*>("floats", 4), 0); },
      bcast_of + "'floats', (4) float, root 0");
  expect_differ(
      sum_four, of_four + "sum", [&] { allreduce(comm, five, sum); }, "allreduce of View 'five', (5) double, sum");
  expect_differ([&] { gather(comm, four, whole, 0); }, "gather " + four_into_whole + ", root 0",
                [&] { gather(comm, five, whole, 0); }, "gather of View 'five', (5) double, 5 x double a rank, root 0");
  expect_differ([&] { bcast(comm, right, 0); }, bcast_of + "'right', (2, 3) double with the last index fastest, root 0",
                [&] { bcast(comm, left, 0); }, bcast_of + "'left', (2, 3) double with the first index fastest, root 0");
  expect_differ(
      sum_four, of_four + "sum", [&] { allreduce(comm, four, ReduceOp::max); }, of_four + "max");
  expect_differ([&] { allreduce(comm, four, std::multiplies<>()); }, of_four + "non-commutative functor ",
                [&] { allreduce(comm, four, commutative(std::plus<>())); }, of_four + "commutative functor ");
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
  sends[0] += is_last ? 1 : 0;
  const Doubles out("out", whole.size() + (is_last ? 1 : 0)), in("in", whole.size());
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
