// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An all-to-all among neighbours, and what it refuses.
#include "comm_test.hpp"

#include <numeric>
#include <set>

namespace kontor::comm::test {
namespace {

struct Triple {
  double a;
  int from, to;
};

/// The ranks next to this one on a ring.
std::vector<int> on_ring(const Communicator& comm) {
  const int p = comm.size(), me = comm.rank();
  std::set<int> ranks{(me + 1) % p, (me + p - 1) % p};
  ranks.erase(me);
  return {ranks.begin(), ranks.end()};
}

/// Other numbers of structs in each round, itself included, into memory that is there; on a process grid too.
TEST(Neighbours, DeliverWhatAlltoallvDoes) {
  const Communicator all(MPI_COMM_WORLD), ring(all, {all.size()}, {true});
  for (const auto* comm : {&all, &ring}) {
    const Neighbours neighbours(*comm, on_ring(*comm));
    const int p = comm->size(), me = comm->rank();
    Received<HostView<Triple*>> received;
    for (int round = 0; round < 4; ++round) {
      std::vector<int> counts(p, 0);
      for (const int r : neighbours.ranks()) counts[r] = (3 * me + 5 * r + round) % 4;
      const HostView<Triple*> out("out", std::accumulate(counts.begin(), counts.end(), 0));
      for (int r = 0, i = 0; r < p; ++r)
        for (int k = 0; k < counts[r]; ++k, ++i) out(i) = {k + 0.5, me, r};
      received = alltoallv_with_counts(neighbours, out, counts, std::move(received));
      const auto expected = alltoallv_with_counts(*comm, out, counts);
      ASSERT_EQ(received.offsets, expected.offsets);
      for (std::size_t i = 0; i < expected.data.size(); ++i) {
        EXPECT_EQ(received.data(i).a, expected.data(i).a);
        EXPECT_EQ(received.data(i).from, expected.data(i).from);
        EXPECT_EQ(received.data(i).to, me);
      }
    }
  }
}

TEST(Neighbours, RefuseWhatIsNotMutual) {
  const Communicator comm(MPI_COMM_WORLD);
  const int p = comm.size(), me = comm.rank();
  expect_error<CallError>([&] { Neighbours(comm, {p}); }, {"there is no rank"});
  expect_error<CallError>([&] { Neighbours(comm, {0, 0}); }, {"rank 0 is there twice"});
  if (p < 3) return;
  expect_error<AgreedError>([&] { Neighbours(comm, {(me + 1) % p}); }, {"but not the other way round"});
}

TEST(Neighbours, RefuseElementsForOthers) {
  for (const auto level : levels_with_checks) {
    Options options;
    options.check = level;
    const Communicator comm(MPI_COMM_WORLD, options);
    if (comm.size() < 2) return;
    const Neighbours alone(comm, {});
    std::vector<int> counts(comm.size(), 0);
    counts[(comm.rank() + 1) % comm.size()] = 2;
    const Ints out("out", 2);
    const Action call = [&] { (void)alltoallv_with_counts(alone, out, counts); };
    const std::initializer_list<std::string> facts{"View 'out'", "which is no neighbour"};
    level == CheckLevel::local ? expect_error<CallError>(call, facts) : expect_error<UsageError>(call, facts);
  }
}

} // namespace
} // namespace kontor::comm::test
