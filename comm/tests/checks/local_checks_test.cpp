// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What one rank sees alone is an error in words, before MPI is called: of that rank at check level `local`, and of all
// at level `cross_rank` if the call is all ranks'.
#include "comm_test.hpp"
#include "views.hpp"

#include <fmt/ranges.h>

namespace kontor::comm::test {
namespace {

using Complexes = HostView<Kokkos::complex<double>*>;
using Nowhere = Kokkos::View<int*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

class LocalChecks : public AtLevel {
 protected:
  Doubles four{"four", 4};
  Doubles five{"five", 5};
  Doubles whole{"whole", static_cast<std::size_t>(4 * ranks)};
  Ints view{"view", 3};
  int teller = GetParam() == CheckLevel::local ? rank : 0; ///< whose problem the error tells
  std::string peers = fmt::format("ranks are 0 to {}; no_rank says there is none", last);

  void TearDown() override { expect_usable(comm); }
};
INSTANTIATE_TEST_SUITE_P(Levels, LocalChecks, testing::ValuesIn(levels_with_checks));

TEST_P(LocalChecks, RootIsNobody) {
  const auto nobody = fmt::format("root {0}: there is no rank {0}; {1}", ranks, peers.substr(0, peers.find(';')));
  expect_refused([&] { bcast(comm, four, ranks); }, {"bcast of View 'four', (4) double", nobody});
  expect_refused([&] { reduce(comm, four, ReduceOp::sum, -1); },
                 {"reduce of View 'four', (4) double, sum, root -1: there is no rank -1"});
  expect_refused([&] { scatterv(comm, whole, {1}, four, ranks); }, {"scatterv of View 'four', (4) double", nobody});
  expect_refused([&] { gather(comm, 1.5, ranks); }, {"gather of a value", nobody});
  comm = Communicator(MPI_COMM_WORLD, {.check = CheckLevel::off}); // then the texts are MPI's
  const auto failed = [&](const char* function, int code) {
    return fmt::format(" {}: {} failed: {}", ranks, function, mpi_text(code));
  };
  expect_error<MpiError>([&] { bcast(comm, four, ranks); },
                         {"bcast of View 'four'", "root" + failed("MPI_Bcast", MPI_ERR_ROOT)});
  expect_error<MpiError>([&] { send(comm, four, ranks); },
                         {fmt::format("send to rank {} (tag 0) of View 'four'", ranks), "MPI_Send failed: "});
}

TEST_P(LocalChecks, SizesThatDoNotFit) {
  const Plane wrong("wrong", 2, 5);
  const auto needs = [](int n) { return fmt::format("View 'wrong', (2, 5) double must have {} elements", n); };
  const auto of_all = needs(4 * ranks) + ", those of all ranks, but has 10";
  const auto as_given = ", as many as are given, but has 10";
  const std::string into_wrong = " of View 'four', (4) double, into View 'wrong', (2, 5) double, 4 x double a rank";
  expect_refused([&] { allgather(comm, four, wrong); }, {"allgather" + into_wrong, of_all});
  expect_error<CallError>([&] { (void)iallgather(comm, four, wrong); }, {"iallgather" + into_wrong, of_all});
  expect_refused([&] { scatter(comm, wrong, four, rank); },
                 {"scatter of View 'wrong', (2, 5) double, into View 'four', (4) double, 4 x double a rank, ",
                  fmt::format("root {}", teller), of_all});
  expect_refused([&] { allreduce(comm, four, wrong, ReduceOp::max); },
                 {"allreduce of View 'four' into View 'wrong', (4) double, max", needs(4) + as_given});
  expect_refused(
      [&] { alltoall(comm, whole, wrong); },
      {"alltoall of View 'whole'", fmt::format("{} x double a rank", 10 / ranks), needs(4 * ranks) + as_given});
  if (ranks == 1) return;
  const Doubles odd("odd", whole.size() + 1);
  const auto why = fmt::format("elements of View 'odd', ({}) double do not divide among {} ranks", odd.size(), ranks);
  expect_refused([&] { allgather(comm, odd); }, {"allgather of View 'odd'", "4 x double a rank", why});
  expect_refused([&] { alltoall(comm, odd); }, {"alltoall of View 'odd'", "4 x double a rank", why});
}

TEST_P(LocalChecks, Counts) {
  const AlltoallGrid grid(comm);
  const Doubles other("other", whole.size());
  const std::vector<int> equal(ranks, 4);
  const auto expect = [&](const std::vector<int>& counts, const std::string& why, const std::string& of_sums) {
    expect_refused([&] { allgatherv(comm, four, whole, counts); },
                   {fmt::format("allgatherv of View 'four', (4) double, into View 'whole', ({}) double", 4 * ranks),
                    why + of_sums});
    expect_refused([&] { alltoallv(comm, whole, counts, other, equal); }, {"alltoallv of View 'whole'", why + of_sums});
    expect_refused([&] { alltoallv(comm, other, equal, whole, counts); }, {"alltoallv of View 'other'", why + of_sums});
    expect_refused([&] { (void)alltoallv_with_counts(comm, whole, counts); }, {"alltoallv_with_counts", why});
    expect_refused([&] { (void)alltoallv_with_counts(grid, whole, counts); }, {"along a grid", why});
  };
  std::vector<int> counts(ranks, 4);
  counts[last] = 3;
  expect(counts, "",
         fmt::format("the counts ({0}) sum to {1}, but View 'whole', ({2}) double has {2} elements",
                     fmt::join(counts, ", "), 4 * ranks - 1, 4 * ranks));
  counts[last] = -4;
  expect(counts, fmt::format("the count of rank {} is -4", last), "");
  counts.push_back(1);
  expect(counts, "", fmt::format("there are {} counts for {} ranks", ranks + 1, ranks));
  counts.assign(ranks, 4);
  expect_refused([&] { gatherv(comm, five, whole, counts, rank); },
                 {"gatherv of View 'five', (5) double, into View 'whole'", fmt::format("root {}", teller),
                  "View 'five', (5) double must have 4 elements, this rank's count, but has 5"});
}

TEST_P(LocalChecks, SharedMemory) {
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

TEST_P(LocalChecks, UndefinedOperations) {
  const auto expect = [&](auto operation, const std::string& call, const std::string& op, const std::string& scalar) {
    expect_refused(operation, {call + scalar + ", " + op + ": " + op + " is not defined for " + scalar, "functor"});
  };
  const std::string of_value = "allreduce of a value, () ";
  expect([&] { allreduce(comm, Kokkos::complex<double>(1), ReduceOp::min); }, of_value, "min", "complex<double>");
  for (const auto op : {ReduceOp::sum, ReduceOp::product, ReduceOp::min, ReduceOp::bitwise_or}) // no bool may result
    expect([&] { allreduce(comm, true, op); }, of_value, to_string(op), "bool");
  expect([&] { scan(comm, four, ReduceOp::bitwise_xor); }, "scan of View 'four', (4) ", "bitwise xor", "double");
  expect([&] { allreduce(comm, Three{}, ReduceOp::sum); }, of_value, "sum", "12-byte struct");
  expect_error<CallError>( // nor without checks, where MPI would not understand
      [] { allreduce(Communicator(MPI_COMM_WORLD, {.check = CheckLevel::off}), Complexes("c", 2), ReduceOp::max); },
      {"max is not defined for complex<double>"});
}

TEST_P(LocalChecks, PackingNoneRefusesStridedViews) {
  comm = Communicator(MPI_COMM_WORLD, method("raw", Packing::none));
  const auto field = inside<double, Right>("plane", Index<2>{3, 4});
  const std::string why = " View 'plane', (3, 4) double, does not lie in one piece, and packing is 'none'";
  expect_error<CallError>([&] { allreduce(comm, field.view, ReduceOp::sum); }, {"allreduce:" + why, "'kernel'"});
  expect_error<CallError>([&] { bcast(comm, field.view, 0); }, {"bcast:" + why, "'kernel'"});
  expect_error<CallError>([&] { send(comm, field.view, 0); },
                          {"send:" + why + "; choose packing 'kernel', or a contiguous View"});
}

/// Where a rank neither gives nor gets, its View may lie as it will: the root does not wait for ever.
TEST_P(LocalChecks, PackingNoneTakesViewsWithoutAccess) {
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

/// Beyond what MPI's arrays and counts hold, told without the memory for it.
TEST_P(LocalChecks, BeyondInt) {
  const std::int64_t much = std::int64_t{1} << 31;
  const auto huge = [&](std::int64_t count, Scalar scalar) {
    return detail::Operand{four.data(), count, scalar, &four,
                           [](const void* view) { return to_buffer(*static_cast<const Doubles*>(view)); }};
  };
  const auto values = huge(much, scalar_of<double>());
  const auto sum = detail::reduction<Doubles>(detail::Kind::allreduce, ReduceOp::sum);
  expect_error<CallError>(
      [&] {
        sum.kind.perform({comm, sum, values.at(MPI_IN_PLACE), values});
      },
      {"allreduce of View 'four', (4) double, sum", "2147483648 elements", "2147483647", "subviews"});
  if (ranks < 3) return;
  std::vector<std::int64_t> all(ranks, 0);
  all[0] = much;
  all[2] = 1;
  Counts counts(all);
  const auto bytes = huge(much + 1, scalar_of<char>());
  const detail::Collective allgatherv{.kind = detail::Kind::allgatherv, .counts = &counts};
  auto part = bytes.at(&counts); // elsewhere
  part.count = counts[rank];
  expect_error<Error>(
      [&] {
        allgatherv.kind.perform({comm, allgatherv, part, bytes});
      },
      {"allgatherv of View 'four', (4) double, int8", "the count 2147483648", "2147483647", "subviews"});
}

TEST_P(LocalChecks, PeersTagsAndMemory) {
  const auto expect = [](const auto& call, const std::string& fact) { expect_error<CallError>(call, {fact}); };
  const auto of_view = " (tag 0) of View 'view', (3) int32: " + peers;
  const std::string or_any = ", any_source takes whoever has sent";
  expect([&] { send(comm, view, ranks); }, fmt::format("send to rank {}", ranks) + of_view);
  expect([&] { isend(comm, view, any_source).wait(); }, "isend to any rank" + of_view);
  expect([&] { recv(comm, view, -7); }, "recv from rank -7" + of_view + or_any);
  expect([&] { sendrecv(comm, view, 0, view, ranks); }, fmt::format("sendrecv from rank {}", ranks) + of_view + or_any);
  expect([&] { probe(comm, ranks); }, fmt::format("probe from rank {} (any tag): {}", ranks, peers));
  const int limit = comm.tag_limit();
  const auto with_tags = fmt::format(" of View 'view', (3) int32: tags are 0 to {} with this MPI", limit);
  expect([&] { send(comm, view, 0, any_tag); }, "send to rank 0 (any tag)" + with_tags);
  expect([&] { irecv(comm, view, 0, -2).wait(); },
         "irecv from rank 0 (tag -2)" + with_tags + "; any_tag takes whatever the message has");
  if (limit < std::numeric_limits<int>::max())
    expect([&] { send(comm, view, 0, limit + 1); }, fmt::format("send to rank 0 (tag {})", limit + 1) + with_tags);
  expect([&] { sendrecv(comm, view, 0, Nowhere(nullptr, 4), 0); },
         "sendrecv from rank 0 (tag 0) of View '', (4) int32: it has elements but no memory");
  const Nowhere empty(nullptr, 0);
  sendrecv(comm, empty, next, empty, previous, 3);
}

TEST_P(LocalChecks, ElementsShareMemory) {
  using Strided = HostView<int**, Stride>;
  const Ints storage("storage", 24);
  const Strided apart(storage.data(), Stride(3, 4, 4, 1));
  for (const auto& [layout, strides] : {std::pair(Stride(3, 1, 4, 1), "1, 1"), std::pair(Stride(3, 2, 3, 2), "2, 2"),
                                        std::pair(Stride(3, 0, 4, 1), "0, 1")}) {
    const Strided shared(storage.data(), layout);
    const auto why = fmt::format("some of its elements share memory (strides {})", strides);
    expect_error<CallError>([&] { recv(comm, shared, 0); }, {why});
    expect_error<CallError>([&] { irecv(comm, shared, 0).wait(); }, {why});
    expect_error<CallError>([&] { sendrecv(comm, apart, 0, shared, 0); }, {why});
    expect_error<CallError>([&] { allreduce(comm, shared, ReduceOp::sum); }, {why});
    expect_error<CallError>([&] { iallreduce(comm, apart, shared, ReduceOp::sum).wait(); }, {why});
    expect_error<CallError>([&] { scatter(comm, Ints("whole", 12 * ranks), shared, rank); }, {why});
  }
  comm = Communicator(MPI_COMM_WORLD); // layouts may differ
  const Strided columns(storage.data() + 12, Stride(3, 1, 4, 3));
  sendrecv(comm, apart, rank, columns, rank);
  const Strided same(storage.data(), Stride(3, 0, 4, 1)); // may be read
  sendrecv(comm, same, rank, columns, rank);
}

} // namespace
} // namespace kontor::comm::test
