// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What one rank alone sees wrong in a collective call (check level `local`).
#include "error_text.hpp"
#include "methods.hpp"
#include "views.hpp"

#include <kontor/comm/comm.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace kontor::comm::test {
namespace {

using Doubles = Kokkos::View<double*, Kokkos::HostSpace>;
using Complexes = Kokkos::View<Kokkos::complex<double>*, Kokkos::HostSpace>;
using Plane = Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::HostSpace>;

Options level(CheckLevel check) {
  Options options;
  options.check = check;
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
  EXPECT_EQ(text_of<MpiError>([&] { bcast(comm, four, ranks); }),
            fmt::format("bcast of View 'four', (4) double, root {0}: MPI_Bcast failed: {1}", ranks,
                        mpi_text(MPI_ERR_ROOT)));
  EXPECT_EQ(
      text_of<MpiError>([&] { gather(comm, four, whole, ranks); }),
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

/// Where a rank neither gives nor gets, its View may lie as it will: the root does not wait for ever.
TEST_F(LocalErrors, PackingNoneTakesViewsWithoutAccess) {
  comm = Communicator(MPI_COMM_WORLD, method("raw", Packing::none));
  const auto field =
      inside<double, Kokkos::LayoutRight>("field", Index<2>{4, static_cast<std::size_t>(ranks)});
  const Plane plane("plane", 4, static_cast<std::size_t>(ranks));
  for (int root = 0; root < ranks; ++root) {
    if (comm.rank() == root) {
      gather(comm, four, plane, root);
      scatter(comm, plane, four, root);
      reduce(comm, plane, whole, ReduceOp::sum, root);
    } else {
      gather(comm, four, field.view, root);
      scatter(comm, field.view, four, root);
      reduce(comm, plane, field.view, ReduceOp::sum, root);
    }
  }
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
      text_of<Error>([&] {
        detail::Allgatherv{counts}({three, detail::Allgatherv::traits, huge.at(MPI_IN_PLACE), huge});
      }),
      "allgatherv of View 'four' (4), int8: View 'four', (4) double: the count 2147483648 is beyond "
      "the "
      "2147483647 that MPI's arrays hold; let subviews travel one after the other, or structs of several "
      "elements");
}

} // namespace
} // namespace kontor::comm::test
