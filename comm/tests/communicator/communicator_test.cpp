// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Communicators as handles: shared, moved, split; and the agreement of their ranks.
#include "comm_test.hpp"

#include <kontor/comm/communicator/internals.hpp>

#include <optional>

namespace kontor::comm::test {
namespace {

using Split = OnRing;

TEST_F(Split, ByColour) {
  const int colour = rank % 2;
  const auto half = comm.split(colour, -rank); // in reverse
  EXPECT_EQ(half.size(), (ranks + 1 - colour) / 2);
  EXPECT_EQ(half.rank(), half.size() - 1 - rank / 2);
  expect_usable(half);
}

/// Odd ranks are in none of the parts.
TEST_F(Split, WithoutColour) {
  const bool in = rank % 2 == 0;
  const auto part = comm.split(in ? std::optional(3) : std::nullopt);
  EXPECT_EQ(part.has_value(), in);
  if (part) {
    EXPECT_EQ(part->size(), (ranks + 1) / 2);
    EXPECT_EQ(part->rank(), rank / 2);
    expect_usable(*part);
  }
  expect_usable(comm);
}

TEST_F(Split, ByANegativeColour) {
  EXPECT_EQ(text_of<AgreedError>([&] { comm.split(is_last ? -7 : 0); }),
            fmt::format("rank {} gives the colour -7; colours are 0 or more, and std::nullopt says that a rank is to "
                        "be in none of the parts",
                        last));
  expect_usable(comm);
}

TEST(CommunicatorHandle, SharesAndMoves) {
  Communicator comm(MPI_COMM_WORLD);
  int same = MPI_UNEQUAL;
  MPI_Comm_compare(comm.native(), MPI_COMM_WORLD, &same);
  EXPECT_EQ(same, MPI_CONGRUENT) << "Kontor's messages must not meet the caller's";
  const auto other = comm.share();
  EXPECT_EQ(other.native(), comm.native());
  const int first = detail::internals(comm).reserve_tags(3);
  EXPECT_EQ(detail::internals(other).reserve_tags(1), first + 3);
  comm = Communicator(comm, {comm.size()}, {true});
  expect_usable(comm);
  expect_usable(other);
}

/// What was moved from is refused in words, whatever is asked of it.
TEST(CommunicatorHandle, MovedFrom) {
  Communicator comm(MPI_COMM_WORLD);
  Exchange<Ints> exchange(comm, "moved");
  exchange.commit();
  const auto taken_exchange = std::move(exchange);
  const auto taken = std::move(comm);
  EXPECT_FALSE(comm);
  EXPECT_TRUE(taken);
  const Ints view("view", 3);
  const auto refused = [](const auto& call) {
    EXPECT_EQ(text_of<CallError>(call), "a Communicator is used that was moved from");
  };
  refused([&] { comm.rank(); });
  refused([&] { comm.share(); });
  refused([&] { comm.split(0); });
  refused([&] { comm.neighbour(0, 1); });
  refused([&] { comm.agree(std::nullopt); });
  refused([&] { send(comm, view, 0); });
  refused([&] { isend(comm, view, 0).wait(); });
  refused([&] { allreduce(comm, 1, ReduceOp::sum); });
  refused([&] { iallreduce(comm, view, ReduceOp::sum).wait(); });
  refused([&] { Communicator(comm, {1}, {false}); });
  refused([&] { Exchange<Ints>(comm, "of none"); });
  for (const auto& text :
       {text_of<CallError>([&] { exchange.commit(); }), text_of<CallError>([&] { exchange.start(); })})
    expect_facts(text, {"Exchange that was moved from"});
}

TEST(CommunicatorHandle, Agrees) {
  const Communicator comm(MPI_COMM_WORLD);
  const auto agree = [&](bool problem) {
    return text_of<AgreedError>(
        [&] { comm.agree(problem ? std::optional(fmt::format("rank {} says no", comm.rank())) : std::nullopt); });
  };
  const int last = comm.size() - 1;
  EXPECT_EQ(agree(false), "no error");
  EXPECT_EQ(agree(comm.rank() == last), fmt::format("rank {} says no", last));
  EXPECT_EQ(agree(true), "rank 0 says no");
}

} // namespace
} // namespace kontor::comm::test
