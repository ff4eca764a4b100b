// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What one rank alone sees wrong in a collective call (check level `local`).
#include "comm_test.hpp"
#include "views.hpp"

#include <fmt/ranges.h>

#include <cstdint>

namespace kontor::comm::test {
namespace {

using Complexes = HostView<Kokkos::complex<double>*>;

class LocalErrors : public OnRing {
 protected:
  Doubles four{"four", 4};
  Doubles five{"five", 5};
  Doubles whole{"whole", static_cast<std::size_t>(4 * ranks)};

  template <class Call>
  static void expect_refused(const Call& call, std::initializer_list<std::string> facts) {
    expect_error<CallError>(call, facts);
  }
  void TearDown() override { expect_usable(comm); }
};

TEST_F(LocalErrors, RootIsNobody) {
  const auto nobody = fmt::format("root {0}: there is no rank {0}; ranks are 0 to {1}", ranks, last);
  expect_refused([&] { bcast(comm, four, ranks); }, {"bcast of View 'four', (4) double", nobody});
  expect_refused([&] { (void)ibcast(comm, four, ranks); }, {"ibcast of View 'four', (4) double", nobody});
  expect_refused([&] { reduce(comm, four, ReduceOp::sum, -1); },
                 {"reduce of View 'four', (4) double, sum, root -1: there is no rank -1"});
  expect_refused([&] { gather(comm, four, whole, ranks); }, {"gather of View 'four'", "4 x double a rank", nobody});
  expect_refused([&] { scatterv(comm, whole, {1}, four, ranks); }, {"scatterv of View 'four' (4), double", nobody});
}

TEST_F(LocalErrors, SizesThatDoNotFit) {
  const Plane wrong("wrong", 2, 5);
  const auto needs = [](int n) { return fmt::format("View 'wrong', (2, 5) double must have {} elements", n); };
  const auto of_all = needs(4 * ranks) + ", those of all ranks, but has 10";
  const auto as_given = ", as many as are given, but has 10";
  const auto root = fmt::format("4 x double a rank, root {}", rank);
  const std::string four_into = " of View 'four', (4) double, into View 'wrong', (2, 5) double, ";
  expect_refused([&] { gather(comm, four, wrong, rank); }, {"gather" + four_into + root, of_all});
  expect_refused([&] { allgather(comm, four, wrong); }, {"allgather" + four_into + "4 x double a rank", of_all});
  expect_refused([&] { (void)iallgather(comm, four, wrong); }, {"iallgather" + four_into, of_all});
  expect_refused([&] { scatter(comm, wrong, four, rank); },
                 {"scatter of View 'wrong', (2, 5) double, into View 'four', (4) double, " + root, of_all});
  expect_refused([&] { allreduce(comm, four, wrong, ReduceOp::max); },
                 {"allreduce of View 'four' into View 'wrong', (4) double, max", needs(4) + as_given});
  expect_refused([&] { alltoall(comm, whole, wrong); },
                 {"alltoall of View 'whole'", "into View 'wrong', (2, 5) double",
                  fmt::format("{} x double a rank", 10 / ranks), needs(4 * ranks) + as_given});
}

TEST_F(LocalErrors, PartsThatDoNotDivide) {
  if (ranks == 1) return;
  const Doubles odd("odd", whole.size() + 1);
  const auto why =
      fmt::format("the {0} elements of View 'odd', ({0}) double do not divide among {1} ranks", odd.size(), ranks);
  expect_refused([&] { allgather(comm, odd); }, {"allgather of View 'odd'", "4 x double a rank", why});
  expect_refused([&] { alltoall(comm, odd); }, {"alltoall of View 'odd'", "4 x double a rank", why});
}

TEST_F(LocalErrors, Counts) {
  const auto expect = [&](const std::vector<int>& counts, const std::string& why) {
    expect_refused([&] { allgatherv(comm, four, whole, counts); },
                   {fmt::format("allgatherv of View 'four' (4) into View 'whole' ({})", 4 * ranks), why});
  };
  std::vector<int> counts(ranks, 4);
  counts[last] = 3;
  expect(counts, fmt::format("the counts ({0}) sum to {1}, but View 'whole', ({2}) double has {2} elements",
                             fmt::join(counts, ", "), 4 * ranks - 1, 4 * ranks));
  counts[last] = -4;
  expect(counts, fmt::format("the count of rank {} is -4", last));
  counts.push_back(1);
  expect(counts, fmt::format("there are {} counts for {} ranks", ranks + 1, ranks));
  counts.assign(ranks, 4);
  expect_refused([&] { gatherv(comm, five, whole, counts, rank); },
                 {"gatherv of View 'five' (5) into View 'whole'", fmt::format("root {}", rank),
                  "View 'five', (5) double must have 4 elements, this rank's count, but has 5"});
}

TEST_F(LocalErrors, SharedMemory) {
  const std::string why = " share memory; there is a form in place";
  const Doubles first = Kokkos::subview(whole, std::pair(0, 4));
  expect_refused([&] { allgather(comm, first, whole); },
                 {"allgather of View 'whole', (4) double, into View 'whole'",
                  fmt::format("View 'whole', (4) double and View 'whole', ({}) double{}", 4 * ranks, why)});
  expect_refused([&] { allreduce(comm, four, four, ReduceOp::sum); },
                 {"allreduce of View 'four' into View 'four', (4) double, sum",
                  "View 'four', (4) double and View 'four', (4) double" + why});
}

struct Three {
  int values[3];
};

TEST_F(LocalErrors, UndefinedOperations) {
  const auto expect = [&](auto operation, const char* call, const std::string& op, const char* scalar) {
    expect_refused(operation, {fmt::format("{0}, {1}: {1} is not defined for {2}", call, op, scalar), "functor"});
  };
  const Complexes view("phases", 2);
  expect([&] { allreduce(comm, Kokkos::complex<double>(1), ReduceOp::min); },
         "allreduce of a value, () complex<double>", "min", "complex<double>");
  expect([&] { scan(comm, four, ReduceOp::bitwise_xor); }, "scan of View 'four', (4) double", "bitwise xor", "double");
  expect([&] { exscan(comm, Three{}, ReduceOp::sum); }, "exscan of a value, () 12-byte struct", "sum",
         "12-byte struct");
  for (const auto check : {CheckLevel::local, CheckLevel::off}) // where MPI would not understand
    expect([&] { allreduce(Communicator(MPI_COMM_WORLD, {.check = check}), view, ReduceOp::max); },
           "allreduce of View 'phases', (2) complex<double>", "max", "complex<double>");
}

/// At check level `off` what MPI refuses is its error.
TEST_F(LocalErrors, LevelOff) {
  comm = Communicator(MPI_COMM_WORLD, {.check = CheckLevel::off});
  const auto failed = [&](const char* function) {
    return fmt::format("root {}: {} failed: {}", ranks, function, mpi_text(MPI_ERR_ROOT));
  };
  expect_error<MpiError>([&] { bcast(comm, four, ranks); }, {"bcast of View 'four'", failed("MPI_Bcast")});
  expect_error<MpiError>([&] { gather(comm, four, whole, ranks); }, {"gather of View 'four'", failed("MPI_Gather")});
}

TEST_F(LocalErrors, PackingNoneRefusesStridedViews) {
  comm = Communicator(MPI_COMM_WORLD, method("raw", Packing::none));
  const auto field = inside<double, Right>("plane", Index<2>{3, 4});
  const std::string why = ": View 'plane', (3, 4) double, does not lie in one piece, and packing is 'none'";
  expect_refused([&] { allreduce(comm, field.view, ReduceOp::sum); }, {"allreduce" + why, "'kernel'"});
  expect_refused([&] { bcast(comm, field.view, 0); }, {"bcast" + why, "'kernel'"});
}

/// Where a rank neither gives nor gets, its View may lie as it will: the root does not wait for ever.
TEST_F(LocalErrors, PackingNoneTakesViewsWithoutAccess) {
  comm = Communicator(MPI_COMM_WORLD, method("raw", Packing::none));
  const auto field = inside<double, Right>("field", Index<2>{4, static_cast<std::size_t>(ranks)});
  const Plane plane("plane", 4, static_cast<std::size_t>(ranks));
  for (int root = 0; root < ranks; ++root) {
    if (rank == root) {
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
  const detail::Collective allgatherv{.kind = detail::Kind::allgatherv, .counts = &counts};
  expect_error<Error>(
      [&] {
        allgatherv.kind.perform({three, allgatherv, huge.at(MPI_IN_PLACE), huge});
      },
      {"allgatherv of View 'four' (4), int8", "the count 2147483648", "2147483647", "subviews"});
}

} // namespace
} // namespace kontor::comm::test
