// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Check level `local`: what one rank sees alone is an error in words, before MPI is called.
#include "comm_test.hpp"
#include "views.hpp"

#include <fmt/ranges.h>

namespace kontor::comm::test {
namespace {

using Complexes = HostView<Kokkos::complex<double>*>;
using Nowhere = Kokkos::View<int*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

class LocalChecks : public OnRing {
 protected:
  Doubles four{"four", 4};
  Doubles five{"five", 5};
  Doubles whole{"whole", static_cast<std::size_t>(4 * ranks)};
  Ints view{"view", 3};
  std::string peers = fmt::format("ranks are 0 to {}; no_rank says there is none", last);
  std::string tags = fmt::format("tags are 0 to {} with this MPI", comm.tag_limit());

  template <class Call>
  static void expect_refused(const Call& call, std::initializer_list<std::string> facts) {
    expect_error<CallError>(call, facts);
  }
  template <class Operation>
  static void expect_refused(Operation operation, const std::string& text) {
    EXPECT_EQ(text_of<CallError>(operation), text);
  }
  void TearDown() override { expect_usable(comm); }
};

TEST_F(LocalChecks, RootIsNobody) {
  const auto nobody = fmt::format("root {0}: there is no rank {0}; ranks are 0 to {1}", ranks, last);
  expect_refused([&] { bcast(comm, four, ranks); }, {"bcast of View 'four', (4) double", nobody});
  expect_refused([&] { (void)ibcast(comm, four, ranks); }, {"ibcast of View 'four', (4) double", nobody});
  expect_refused([&] { reduce(comm, four, ReduceOp::sum, -1); },
                 {"reduce of View 'four', (4) double, sum, root -1: there is no rank -1"});
  expect_refused([&] { gather(comm, four, whole, ranks); }, {"gather of View 'four'", "4 x double a rank", nobody});
  expect_refused([&] { scatterv(comm, whole, {1}, four, ranks); },
                 {"scatterv of View 'four', (4) double, double", nobody});
  comm = Communicator(MPI_COMM_WORLD, {.check = CheckLevel::off});
  const auto failed = [&](const char* function) {
    return fmt::format("root {}: {} failed: {}", ranks, function, mpi_text(MPI_ERR_ROOT));
  };
  expect_error<MpiError>([&] { bcast(comm, four, ranks); }, {"bcast of View 'four'", failed("MPI_Bcast")});
  expect_error<MpiError>([&] { gather(comm, four, whole, ranks); }, {"gather of View 'four'", failed("MPI_Gather")});
  EXPECT_EQ(text_of<MpiError>([&] { send(comm, view, ranks); }),
            fmt::format("send to rank {} (tag 0) of View 'view', (3) int32: MPI_Send failed: {}", ranks,
                        mpi_text(MPI_ERR_RANK)));
}

TEST_F(LocalChecks, SizesThatDoNotFit) {
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
  if (ranks == 1) return;
  const Doubles odd("odd", whole.size() + 1);
  const auto why =
      fmt::format("the {0} elements of View 'odd', ({0}) double do not divide among {1} ranks", odd.size(), ranks);
  expect_refused([&] { allgather(comm, odd); }, {"allgather of View 'odd'", "4 x double a rank", why});
  expect_refused([&] { alltoall(comm, odd); }, {"alltoall of View 'odd'", "4 x double a rank", why});
}

TEST_F(LocalChecks, Counts) {
  const auto expect = [&](const std::vector<int>& counts, const std::string& why) {
    expect_refused(
        [&] { allgatherv(comm, four, whole, counts); },
        {fmt::format("allgatherv of View 'four', (4) double, into View 'whole', ({}) double", 4 * ranks), why});
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
                 {"gatherv of View 'five', (5) double, into View 'whole'", fmt::format("root {}", rank),
                  "View 'five', (5) double must have 4 elements, this rank's count, but has 5"});
}

TEST_F(LocalChecks, SharedMemory) {
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

TEST_F(LocalChecks, UndefinedOperations) {
  const auto expect = [&](auto operation, const char* call, const std::string& op, const char* scalar) {
    expect_refused(operation, {fmt::format("{0}, {1}: {1} is not defined for {2}", call, op, scalar), "functor"});
  };
  const Complexes view("phases", 2);
  expect([&] { allreduce(comm, Kokkos::complex<double>(1), ReduceOp::min); },
         "allreduce of a value, () complex<double>", "min", "complex<double>");
  for (const auto op : {ReduceOp::sum, ReduceOp::product, ReduceOp::min, ReduceOp::bitwise_or}) // no bool may result
    expect([&] { allreduce(comm, true, op); }, "allreduce of a value, () bool", to_string(op), "bool");
  expect([&] { scan(comm, four, ReduceOp::bitwise_xor); }, "scan of View 'four', (4) double", "bitwise xor", "double");
  expect([&] { exscan(comm, Three{}, ReduceOp::sum); }, "exscan of a value, () 12-byte struct", "sum",
         "12-byte struct");
  for (const auto check : {CheckLevel::local, CheckLevel::off}) // where MPI would not understand
    expect([&] { allreduce(Communicator(MPI_COMM_WORLD, {.check = check}), view, ReduceOp::max); },
           "allreduce of View 'phases', (2) complex<double>", "max", "complex<double>");
}

TEST_F(LocalChecks, PackingNoneRefusesStridedViews) {
  comm = Communicator(MPI_COMM_WORLD, method("raw", Packing::none));
  const auto field = inside<double, Right>("plane", Index<2>{3, 4});
  const std::string why = ": View 'plane', (3, 4) double, does not lie in one piece, and packing is 'none'";
  expect_refused([&] { allreduce(comm, field.view, ReduceOp::sum); }, {"allreduce" + why, "'kernel'"});
  expect_refused([&] { bcast(comm, field.view, 0); }, {"bcast" + why, "'kernel'"});
  expect_refused([&] { send(comm, field.view, 0); }, "send" + why + "; choose packing 'kernel', or a contiguous View");
}

/// Where a rank neither gives nor gets, its View may lie as it will: the root does not wait for ever.
TEST_F(LocalChecks, PackingNoneTakesViewsWithoutAccess) {
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
TEST_F(LocalChecks, PlacesBeyondInt) {
  if (ranks < 3) return;
  const std::int64_t much = std::int64_t{1} << 31;
  Counts counts(std::vector<std::int64_t>{much, 0, 1});
  const detail::Operand huge{nullptr, much + 1, scalar_of<char>(), &four,
                             [](const void* view) { return to_buffer(*static_cast<const Doubles*>(view)); }};
  const Communicator three = comm.split(comm.rank() / 3);
  if (three.size() < 3) return;
  const detail::Collective allgatherv{.kind = detail::Kind::allgatherv, .counts = &counts};
  auto part = huge.at(&counts); // elsewhere
  part.count = counts[three.rank()];
  expect_error<Error>(
      [&] {
        allgatherv.kind.perform({three, allgatherv, part, huge});
      },
      {"allgatherv of View 'four', (4) double, int8", "the count 2147483648", "2147483647", "subviews"});
}

TEST_F(LocalChecks, ReductionsBeyondInt) {
  const detail::Operand huge{four.data(), std::int64_t{1} << 31, scalar_of<double>(), &four,
                             [](const void* view) { return to_buffer(*static_cast<const Doubles*>(view)); }};
  const auto sum = detail::reduction<Doubles>(detail::Kind::allreduce, ReduceOp::sum);
  expect_error<CallError>(
      [&] {
        sum.kind.perform({comm, sum, huge.at(MPI_IN_PLACE), huge});
      },
      {"allreduce of View 'four', (4) double, sum", "2147483648 elements", "2147483647", "subviews"});
}

TEST_F(LocalChecks, PeersAndTags) {
  const auto of_view = " (tag 0) of View 'view', (3) int32: " + peers;
  const std::string or_any = ", any_source takes whoever has sent";
  expect_refused([&] { send(comm, view, ranks); }, fmt::format("send to rank {}", ranks) + of_view);
  expect_refused([&] { isend(comm, view, any_source).wait(); }, "isend to any rank" + of_view);
  expect_refused([&] { recv(comm, view, -7); }, "recv from rank -7" + of_view + or_any);
  expect_refused([&] { sendrecv(comm, view, 0, view, ranks); },
                 fmt::format("sendrecv from rank {}", ranks) + of_view + or_any);
  expect_refused([&] { probe(comm, ranks); }, fmt::format("probe from rank {} (any tag): {}", ranks, peers) + or_any);
  expect_refused([&] { recv_with_extents<Ints>(comm, ranks); },
                 fmt::format("recv_with_extents from rank {} (tag 0): {}", ranks, peers) + or_any);
  const auto with_tags = " of View 'view', (3) int32: " + tags;
  expect_refused([&] { send(comm, view, 0, any_tag); }, "send to rank 0 (any tag)" + with_tags);
  expect_refused([&] { irecv(comm, view, 0, -2).wait(); },
                 "irecv from rank 0 (tag -2)" + with_tags + "; any_tag takes whatever the message has");
  expect_refused([&] { send_with_extents(comm, view, 0, -2); }, "send_with_extents to rank 0 (tag -2)" + with_tags);
  const int limit = comm.tag_limit();
  if (limit == std::numeric_limits<int>::max()) return;
  expect_refused([&] { send(comm, view, 0, limit + 1); },
                 fmt::format("send to rank 0 (tag {})", limit + 1) + with_tags);
}

TEST_F(LocalChecks, NoMemory) {
  EXPECT_EQ(text_of<CallError>([&] { sendrecv(comm, view, 0, Nowhere(nullptr, 4), 0); }),
            "sendrecv from rank 0 (tag 0) of View '', (4) int32: it has elements but no memory (its data pointer "
            "is null)");
  sendrecv(comm, Nowhere(nullptr, 0), 0, Nowhere(nullptr, 0), comm.rank() == 0 ? any_source : no_rank, 3);
  for (int n = 1; n < ranks && comm.rank() == 0; ++n) recv(comm, Nowhere(nullptr, 0), any_source, 3);
}

TEST_F(LocalChecks, ElementsShareMemory) {
  using Strided = HostView<int**, Stride>;
  const Ints storage("storage", 24);
  const Strided apart(storage.data(), Stride(3, 4, 4, 1));
  for (const auto& [layout, strides] : {std::pair(Stride(3, 1, 4, 1), "1, 1"), std::pair(Stride(3, 2, 3, 2), "2, 2"),
                                        std::pair(Stride(3, 0, 4, 1), "0, 1")}) {
    const Strided shared(storage.data(), layout);
    const auto why = fmt::format("some of its elements share memory (strides {})", strides);
    const auto expect_shared = [&, why = why](const auto& operation) {
      const auto text = text_of<CallError>(operation);
      expect_facts(text, {why});
    };
    expect_shared([&] { recv(comm, shared, 0); });
    expect_shared([&] { irecv(comm, shared, 0).wait(); });
    expect_shared([&] { sendrecv(comm, apart, 0, shared, 0); });
    expect_shared([&] { allreduce(comm, shared, ReduceOp::sum); });
    expect_shared([&] { iallreduce(comm, apart, shared, ReduceOp::sum).wait(); });
    expect_shared([&] { scatter(comm, Ints("whole", 12 * ranks), shared, comm.rank()); });
  }
  const Strided columns(storage.data() + 12, Stride(3, 1, 4, 3));
  sendrecv(comm, apart, comm.rank(), columns, comm.rank());
  const Strided same(storage.data(), Stride(3, 0, 4, 1)); // may be read
  sendrecv(comm, same, comm.rank(), columns, comm.rank());
}

} // namespace
} // namespace kontor::comm::test
