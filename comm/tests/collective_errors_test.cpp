// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What one rank alone sees wrong in a collective call (check level `local`), and what only all of them
// together do (check level `cross_rank`).
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
using Complexes = Kokkos::View<Kokkos::complex<double>*, Kokkos::HostSpace>;
using Plane = Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::HostSpace>;

Options level(CheckLevel check, double timeout = 20) {
  Options options;
  options.check = check;
  options.timeout = timeout;
  return options;
}

class LocalErrors : public testing::Test {
 protected:
  Communicator comm{MPI_COMM_WORLD, level(CheckLevel::local)};
  int ranks = comm.size();
  int last = ranks - 1;
  Doubles four{"four", 4};
  Doubles five{"five", 5};
  Doubles whole{"whole", static_cast<std::size_t>(4 * ranks)};

  template <class Operation>
  std::string refused(Operation operation) {
    return text_of<CallError>(operation);
  }
  void TearDown() override { expect_usable(comm); }
};

TEST_F(LocalErrors, RootIsNobody) {
  const auto why = fmt::format("there is no rank {}; ranks are 0 to {}", ranks, last);
  EXPECT_EQ(refused([&] { bcast(comm, four, ranks); }),
            fmt::format("bcast of View 'four', (4) double, root {}: {}", ranks, why));
  EXPECT_EQ(refused([&] { (void)ibcast(comm, four, ranks); }),
            fmt::format("ibcast of View 'four', (4) double, root {}: {}", ranks, why));
  EXPECT_EQ(
      refused([&] { reduce(comm, four, ReduceOp::sum, -1); }),
      fmt::format("reduce of View 'four', (4) double, sum, root -1: there is no rank -1; ranks are 0 to {}",
                  last));
  EXPECT_EQ(refused([&] { gather(comm, four, whole, ranks); }),
            fmt::format("gather of View 'four', (4) double, 4 x double a rank, root {}: {}", ranks, why));
  EXPECT_EQ(refused([&] { scatterv(comm, whole, {1}, four, ranks); }),
            fmt::format("scatterv of View 'four' (4), double, root {}: {}", ranks, why));
}

TEST_F(LocalErrors, SizesThatDoNotFit) {
  const Plane wrong("wrong", 2, 5);
  const int needed = 4 * ranks;
  const auto must = [&](const char* call, const std::string& fields, int expected, const char* why) {
    return fmt::format(
        "{} of View 'four', (4) double, into View 'wrong', (2, 5) double, {}: View 'wrong', (2, 5) "
        "double must have {} elements, {}, but has 10",
        call, fields, expected, why);
  };
  EXPECT_EQ(
      refused([&] { gather(comm, four, wrong, comm.rank()); }),
      must("gather", fmt::format("4 x double a rank, root {}", comm.rank()), needed, "those of all ranks"));
  EXPECT_EQ(refused([&] { allgather(comm, four, wrong); }),
            must("allgather", "4 x double a rank", needed, "those of all ranks"));
  EXPECT_EQ(refused([&] { (void)iallgather(comm, four, wrong); }),
            must("iallgather", "4 x double a rank", needed, "those of all ranks"));
  EXPECT_EQ(
      refused([&] { allreduce(comm, four, wrong, ReduceOp::max); }),
      "allreduce of View 'four' into View 'wrong', (4) double, max: View 'wrong', (2, 5) double must have 4 "
      "elements, as many as are given, but has 10");
  EXPECT_EQ(refused([&] { scatter(comm, wrong, four, comm.rank()); }),
            fmt::format(
                "scatter of View 'wrong', (2, 5) double, into View 'four', (4) double, 4 x double a rank, "
                "root {}: View 'wrong', (2, 5) double must have {} elements, those of all ranks, but has 10",
                comm.rank(), needed));
  EXPECT_EQ(refused([&] { alltoall(comm, whole, wrong); }),
            fmt::format(
                "alltoall of View 'whole', ({0}) double, into View 'wrong', (2, 5) double, {1} x double a "
                "rank: View 'wrong', (2, 5) double must have {0} elements, as many as are given, but has 10",
                needed, 10 / ranks));
}

TEST_F(LocalErrors, PartsThatDoNotDivide) {
  if (ranks == 1) return;
  const Doubles odd("odd", static_cast<std::size_t>(4 * ranks + 1));
  const auto why = fmt::format("the {0} elements of View 'odd', ({0}) double do not divide among {1} ranks",
                               4 * ranks + 1, ranks);
  EXPECT_EQ(refused([&] { allgather(comm, odd); }),
            fmt::format("allgather of View 'odd', ({}) double, 4 x double a rank: {}", 4 * ranks + 1, why));
  EXPECT_EQ(refused([&] { alltoall(comm, odd); }),
            fmt::format("alltoall of View 'odd', ({}) double, 4 x double a rank: {}", 4 * ranks + 1, why));
}

TEST_F(LocalErrors, Counts) {
  std::vector<int> counts(ranks, 4);
  const auto text = [&] {
    const auto found = refused([&] { allgatherv(comm, four, whole, counts); });
    const auto begin =
        fmt::format("allgatherv of View 'four' (4) into View 'whole' ({}), double: ", 4 * ranks);
    EXPECT_EQ(found.substr(0, begin.size()), begin);
    return found.substr(std::min(found.size(), begin.size()));
  };
  counts[last] = 3;
  EXPECT_EQ(text(), fmt::format(
                        "the counts ({}3) sum to {}, but View 'whole', ({}) double has {} elements",
                        [&] {
                          std::string fours;
                          for (int r = 0; r < last; ++r) fours += "4, ";
                          return fours;
                        }(),
                        4 * ranks - 1, 4 * ranks, 4 * ranks));
  counts[last] = -4;
  EXPECT_EQ(text(), fmt::format("the count of rank {} is -4", last));
  counts.push_back(1);
  EXPECT_EQ(text(), fmt::format("there are {} counts for {} ranks", ranks + 1, ranks));
  counts.assign(ranks, 4);
  EXPECT_EQ(refused([&] { gatherv(comm, five, whole, counts, comm.rank()); }),
            fmt::format("gatherv of View 'five' (5) into View 'whole' ({}), double, root {}: View "
                        "'five', (5) double must have 4 elements, this rank's count, but has 5",
                        4 * ranks, comm.rank()));
}

TEST_F(LocalErrors, SharedMemory) {
  const Doubles first = Kokkos::subview(whole, std::pair(0, 4));
  EXPECT_EQ(refused([&] { allgather(comm, first, whole); }),
            fmt::format(
                "allgather of View 'whole', (4) double, into View 'whole', ({0}) double, 4 x double a rank: "
                "View 'whole', (4) double and View 'whole', ({0}) double share memory; there is a form in "
                "place, of one View",
                4 * ranks));
  EXPECT_EQ(
      refused([&] { allreduce(comm, four, four, ReduceOp::sum); }),
      "allreduce of View 'four' into View 'four', (4) double, sum: View 'four', (4) double and View 'four', "
      "(4) double share memory; there is a form in place, of one View");
}

TEST_F(LocalErrors, UndefinedOperations) {
  const Complexes view("phases", 2);
  EXPECT_EQ(
      refused([&] { allreduce(comm, Kokkos::complex<double>(1), ReduceOp::min); }),
      "allreduce of a value, () complex<double>, min: min is not defined for complex<double>; a functor can "
      "say what it is");
  EXPECT_EQ(refused([&] { allreduce(comm, view, ReduceOp::max); }),
            "allreduce of View 'phases', (2) complex<double>, max: max is not defined for complex<double>; a "
            "functor can say what it is");
  EXPECT_EQ(refused([&] { scan(comm, four, ReduceOp::bitwise_xor); }),
            "scan of View 'four', (4) double, bitwise xor: bitwise xor is not defined for double; a functor "
            "can say "
            "what it is");
  struct Three {
    int values[3];
  };
  EXPECT_EQ(
      refused([&] { exscan(comm, Three{}, ReduceOp::sum); }),
      "exscan of a value, () 12-byte struct, sum: sum is not defined for 12-byte struct; a functor can say "
      "what it is");
}

/// At check level `off` what MPI would not understand is still refused, and what it refuses is its error.
TEST_F(LocalErrors, LevelOff) {
  comm = Communicator(MPI_COMM_WORLD, level(CheckLevel::off));
  EXPECT_EQ(refused([&] { allreduce(comm, Complexes("phases", 2), ReduceOp::max); }),
            "allreduce of View 'phases', (2) complex<double>, max: max is not defined for complex<double>; a "
            "functor can say what it is");
  EXPECT_EQ(text_of<Error>([&] { bcast(comm, four, ranks); }),
            fmt::format("bcast of View 'four', (4) double, root {0}: MPI_Bcast failed: {1}", ranks,
                        mpi_text(MPI_ERR_ROOT)));
  EXPECT_EQ(
      text_of<Error>([&] { gather(comm, four, whole, ranks); }),
      fmt::format("gather of View 'four', (4) double, 4 x double a rank, root {}: MPI_Gather failed: {}",
                  ranks, mpi_text(MPI_ERR_ROOT)));
}

TEST_F(LocalErrors, PackingNoneRefusesStridedViews) {
  comm = Communicator(MPI_COMM_WORLD, method("raw", Packing::none));
  const auto field = inside<double, Kokkos::LayoutRight>("plane", Index<2>{3, 4});
  EXPECT_EQ(
      refused([&] { allreduce(comm, field.view, ReduceOp::sum); }),
      "allreduce: View 'plane', (3, 4) double, does not lie in one piece, and packing is 'none'; choose "
      "packing 'kernel', or a contiguous View");
  EXPECT_EQ(
      refused([&] { bcast(comm, field.view, 0); }),
      "bcast: View 'plane', (3, 4) double, does not lie in one piece, and packing is 'none'; choose packing "
      "'kernel', or a contiguous View");
}

/// Beyond what MPI's arrays hold, told without the memory for it.
TEST_F(LocalErrors, PlacesBeyondInt) {
  if (ranks < 3) return;
  const std::int64_t much = std::int64_t{1} << 31;
  Counts counts(std::vector<std::int64_t>{much, 0, 1});
  const detail::Operand huge{nullptr, much + 1, scalar_of<char>(), &four,
                             [](const void* view) { return to_buffer(*static_cast<const Doubles*>(view)); }};
  const Communicator three = comm.split(comm.rank() / 3);
  if (three.size() < 3) return;
  EXPECT_EQ(
      text_of<Error>([&] { detail::Allgatherv{counts}(three, huge, nullptr); }),
      "allgatherv of View 'four' (4), int8: View 'four', (4) double: the count 2147483648 is beyond "
      "the "
      "2147483647 that MPI's arrays hold; let subviews travel one after the other, or structs of several "
      "elements");
}

/// Two ranks that do not make the same call.
class CrossRank : public testing::Test {
 protected:
  Communicator comm{MPI_COMM_WORLD, level(CheckLevel::cross_rank)};
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
  comm = Communicator(MPI_COMM_WORLD, level(CheckLevel::cross_rank)); // what was begun cannot end
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
  const Communicator waiting(MPI_COMM_WORLD, level(CheckLevel::cross_rank));
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
  EXPECT_EQ(allgatherv(comm, four).data.size(), whole.size());
  EXPECT_EQ(alltoallv_with_counts(comm, whole, counts).data.size(), whole.size());
  EXPECT_EQ(iallreduce(comm, 1, ReduceOp::sum).wait(), ranks);
  EXPECT_EQ(exscan(comm, 1, ReduceOp::sum), comm.rank());
  barrier(comm);
  (void)ibarrier(comm).wait();
}

/// The last rank does not come; and then comes too late.
TEST_F(CrossRank, MissingRank) {
  const Communicator waiting(MPI_COMM_WORLD, level(CheckLevel::cross_rank, 0.5));
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
  const Communicator waiting(MPI_COMM_WORLD, level(CheckLevel::cross_rank, 0.5));
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
