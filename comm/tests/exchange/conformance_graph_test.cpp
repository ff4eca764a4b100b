// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Receives that add, at nodes that several ranks share.
#include "each_method.hpp"

#include <random>
#include <set>

namespace kontor::comm::test {
namespace {

/// Nodes of a ring of parts: node 0 belongs to all ranks, node 1 + r to ranks r and r + 1.
std::set<int> sharers(int node, int ranks) {
  std::set<int> result;
  if (node == 0)
    for (int r = 0; r < ranks; ++r) result.insert(r);
  else
    result = {node - 1, node % ranks};
  return result;
}

/// A rank's part of component c at a node: sums of such numbers depend on their order.
template <class T>
T part(int rank, int node, int c) {
  std::mt19937 random(static_cast<unsigned>(1000 * rank + 10 * node + c));
  const double fraction = std::uniform_real_distribution<double>(-1, 1)(random);
  return static_cast<T>(std::ldexp(fraction, static_cast<int>(random() % 40)));
}

/// In the order of ranks, which is what every rank must end with.
template <class T>
T whole_sum(int node, int c, int ranks) {
  const auto all = sharers(node, ranks);
  T sum = part<T>(*all.begin(), node, c);
  for (auto r = std::next(all.begin()); r != all.end(); ++r) sum = sum + part<T>(*r, node, c);
  return sum;
}

template <class T, class Place>
void expect_sums(const Communicator& comm, Place& place) {
  const int me = comm.rank();
  const int ranks = comm.size();
  std::vector<int> nodes; // of this rank, in an order of its own, each twice the row apart
  for (int node = ranks; node >= 0; --node)
    if (sharers(node, ranks).count(me) > 0) nodes.push_back(node);
  const auto forces = inside<T, Right>("forces", Index<2>{2 * nodes.size(), 3});
  Exchange<Kokkos::View<T*, typename Place::Space>> exchange(comm, "shared nodes");
  std::vector<Ints> lists;
  for (int peer = 0; peer < ranks; ++peer) {
    std::vector<int> shared; // in the order of nodes, on which two ranks agree
    for (int node = 0; node <= ranks; ++node)
      for (std::size_t n = 0; n < nodes.size(); ++n)
        if (nodes[n] == node && sharers(node, ranks).count(peer) > 0) shared.push_back(2 * static_cast<int>(n));
    if (peer == me || shared.empty()) continue;
    const Ints list("list", shared.size());
    for (std::size_t i = 0; i < shared.size(); ++i) list(i) = shared[i];
    exchange.add_send(place.view(forces), list, peer);
    exchange.add_receive(place.view(forces), list, peer, ReceiveOp::add);
  }
  exchange.commit();
  for (int step = 0; step < 2; ++step) {
    Kokkos::deep_copy(forces.view, T(7));
    for (std::size_t n = 0; n < nodes.size(); ++n)
      for (int c = 0; c < 3; ++c) forces.view(2 * n, c) = part<T>(me, nodes[n], c);
    run_step_at(place, exchange);
    for (std::size_t n = 0; n < nodes.size(); ++n)
      for (int c = 0; c < 3; ++c) {
        EXPECT_EQ(forces.view(2 * n, c), whole_sum<T>(nodes[n], c, ranks)) << "node " << nodes[n];
        EXPECT_EQ(forces.view(2 * n + 1, c), T(7));
      }
  }
}

template <class T>
void expect_sums(Patterns patterns) {
  with_every_method(
      [](const Communicator& comm, auto& place) {
        if (goes_by_index(comm)) expect_sums<T>(comm, place);
      },
      Contiguity::no, patterns);
}

TEST(ReceivesThatAdd, SumInTheOrderOfRanks) {
  expect_sums<double>(Patterns::all);
  expect_sums<float>(Patterns::nonblocking);
  expect_sums<std::int64_t>(Patterns::nonblocking);
  expect_sums<Kokkos::complex<float>>(Patterns::nonblocking);
}

/// A contiguous View that would travel as it lies, into one that is sent in the same step.
TEST(ReceivesThatAdd, AlongARow) {
  with_every_method([](const Communicator& comm, auto& place) {
    const auto [previous, next] = ring_of(comm, false);
    const auto x = whole<double, Right>("x", Index<1>{4});
    Exchange<Kokkos::View<double*, typename std::decay_t<decltype(place)>::Space>> exchange(comm, "row");
    exchange.add(place.view(x), next, place.view(x), previous, ReceiveOp::add);
    exchange.commit();
    for (int i = 0; i < 4; ++i) x.view(i) = 10 * comm.rank() + i;
    run_step_at(place, exchange);
    for (int i = 0; i < 4; ++i)
      EXPECT_EQ(x.view(i), 10 * comm.rank() + i + (previous == no_rank ? 0 : 10 * previous + i));
  });
}

TEST(ReceivesThatAdd, Errors) {
  const Communicator comm(MPI_COMM_WORLD);
  const int previous = ring_of(comm).first, next = ring_of(comm).second;
  struct Pair {
    int a, b;
  };
  const HostView<Pair*> pairs("pairs", 3);
  Exchange<Doubles> exchange(comm, "wrong");
  expect_error<CallError>([&] { exchange.add(pairs, next, pairs, previous, ReceiveOp::add); },
                          {"'wrong'", "'pairs'", "8-byte struct"});
  const Kokkos::View<double*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged> nothing(nullptr, 3);
  expect_error<CallError>([&] { exchange.add_send(nothing, 0); }, {"'wrong'", "no memory"});
  exchange.add_send(nothing, no_rank);

  const Doubles x("x", 6), y("y", 3);
  const auto part = [&](int first) { return Kokkos::subview(x, std::pair(first, first + 3)); };
  exchange.add(y, next, part(0), previous, ReceiveOp::add);
  exchange.add(y, next, part(2), previous, ReceiveOp::add); // the order says which is first
  exchange.add_send(y, no_rank);
  exchange.add_receive(x, no_rank, ReceiveOp::add);
  exchange.commit();
  run_step(exchange);
  exchange.add(y, next, part(3), previous); // replaces what another one adds to
  expect_error<AgreedError>([&] { exchange.commit(); }, {"share cells"});
}

} // namespace
} // namespace kontor::comm::test
