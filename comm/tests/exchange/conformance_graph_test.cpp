// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Neighbours of each rank's own: messages that are matched by pair of ranks, on a graph without any order.
#include "each_method.hpp"

#include <random>
#include <tuple>

namespace kontor::comm::test {
namespace {

/// The `number`-th message from one rank to another.
struct Edge {
  int from;
  int to;
  int number;
  Index<2> extents;
};

/// The same on all ranks: up to three messages between two ranks, to oneself too; rank 1 has no neighbours.
std::vector<Edge> random_graph(int ranks) {
  std::mt19937 random(static_cast<unsigned>(ranks));
  std::vector<Edge> edges;
  for (int from = 0; from < ranks; ++from) {
    for (int to = 0; to < ranks; ++to) {
      const int count = from == 1 || to == 1 ? 0 : static_cast<int>(random() % 4);
      for (int n = 0; n < count; ++n) edges.push_back({from, to, n, {random() % 4, 1 + random() % 50}});
    }
  }
  return edges;
}

/// The ends that a rank has, in an order of its own: peer by peer, or the first messages of all peers before the second
/// ones.
std::vector<Edge> ends(const std::vector<Edge>& graph, int Edge::*mine, int Edge::*peer, int me) {
  std::vector<Edge> result;
  std::ranges::copy_if(graph, std::back_inserter(result), [&](const Edge& e) { return e.*mine == me; });
  std::ranges::stable_sort(result, {}, [&](const Edge& e) {
    const int turned = (e.*peer * 3 + me) % 7;
    return me % 2 == 0 ? std::tuple(turned, e.*peer, e.number) : std::tuple(e.number, turned, e.*peer);
  });
  return result;
}

double value(const Edge& e, int step, const Index<2>& i) {
  return 1e6 * e.from + 1e4 * e.to + 1e3 * e.number + 100 * step + 10 * i[0] + 0.01 * i[1];
}

/// Three steps, some of which are ended by test(). With a slot of add() before all of them, or
/// after them.
template <class Place>
void expect_graph(const Communicator& comm, Place& place, bool with_slots) {
  const int me = comm.rank();
  const auto graph = random_graph(comm.size());
  const auto sends = ends(graph, &Edge::from, &Edge::to, me);
  const auto receives = ends(graph, &Edge::to, &Edge::from, me);
  using Sent = decltype(inside<double, Right>("", Index<2>{}));
  using Received = decltype(whole<double, Left>("", Index<2>{}));
  std::vector<Sent> out;
  std::vector<Received> in;
  for (const auto& e : sends) out.push_back(inside<double, Right>("out", e.extents));
  for (const auto& e : receives) in.push_back(whole<double, Left>("in", e.extents));
  const Edge around{me, (me + 1) % comm.size(), 9, {3, 4}};
  const Edge from_around{(me + comm.size() - 1) % comm.size(), me, 9, {3, 4}};
  const auto slot_out = inside<double, Right>("slot_out", around.extents);
  const auto slot_in = whole<double, Left>("slot_in", around.extents);

  Exchange<Kokkos::View<double**, typename Place::Space>> exchange(comm, "graph");
  const auto add_slot = [&] {
    if (with_slots) exchange.add(place.view(slot_out), around.to, place.view(slot_in), from_around.from);
  };
  if (me % 2 == 0) add_slot();
  for (std::size_t i = 0; i < std::max(sends.size(), receives.size()); ++i) {
    if (i < receives.size()) exchange.add_receive(place.view(in[i]), receives[i].from);
    if (i < sends.size()) exchange.add_send(place.view(out[i]), sends[i].to);
  }
  if (me % 2 == 1) add_slot();
  exchange.add_send(place.view(slot_out), no_rank);
  exchange.commit();

  const auto fill = [](const auto& field, const Edge& e, int step) {
    for_each_index(e.extents, [&](const auto& i) { at(field.view, i) = value(e, step, i); });
  };
  const auto check = [](const auto& field, const Edge& e, int step) {
    for_each_index(e.extents, [&](const auto& i) {
      EXPECT_EQ(at(field.view, i), value(e, step, i)) << e.from << " to " << e.to << ", " << e.number;
    });
  };
  for (int step = 0; step < 3; ++step) {
    SCOPED_TRACE("step " + std::to_string(step));
    for (std::size_t i = 0; i < sends.size(); ++i) fill(out[i], sends[i], step);
    for (std::size_t i = 0; i < receives.size(); ++i) fill(in[i], receives[i], 8);
    fill(slot_out, around, step);
    place.load();
    exchange.start();
    bool ended = exchange.test();
    while (!ended && (step + me) % 2 == 0) ended = exchange.test();
    if (!ended) exchange.finish();
    place.store();
    for (std::size_t i = 0; i < receives.size(); ++i) check(in[i], receives[i], step);
    if (with_slots) check(slot_in, from_around, step);
  }
}

/// Eight neighbours, corners included: what goes towards a direction comes from the opposite one.
TEST(Graph, CornersOfABlock) {
  constexpr int n = 4;
  with_every_method([](const Communicator& comm, auto& place) {
    for (const bool closed : {false, true}) {
      const auto dims = balanced_dims(comm.size(), {0, 0});
      const Communicator grid(comm, dims, {true, !closed});
      const auto& here = grid.coordinates();
      const auto block = whole<int, Right>("block", Index<2>{n + 2, n + 2});
      const auto part = [&](std::pair<int, int> rows, std::pair<int, int> columns) {
        const auto view = Kokkos::subview(block.view, rows, columns);
        return Field<std::remove_const_t<decltype(view)>>{view, block.memory};
      };
      const auto side = [](int i, int outside) {
        if (i == 0) return std::pair(1, n + 1);
        return i < 0 ? std::pair(1 - outside, 2 - outside) : std::pair(n + outside, n + 1 + outside);
      };
      const auto towards = [&](int i, int j) { return grid.rank_at({here[0] + i, here[1] + j}); };
      Exchange<Kokkos::View<int**, typename std::decay_t<decltype(place)>::Space>> halo(grid, "corners");
      for (int i = -1; i <= 1; ++i)
        for (int j = -1; j <= 1; ++j)
          if (i != 0 || j != 0)
            halo.add(place.view(part(side(i, 0), side(j, 0))), towards(i, j),
                     place.view(part(side(-i, 1), side(-j, 1))), towards(-i, -j));
      halo.commit();
      const int rows = n * dims[0];
      const int columns = n * dims[1];
      const auto value = [&](int i, int j) { // of global cells; around the periodic dimensions
        if (closed && (j < 0 || j >= columns)) return -1;
        return (i + rows) % rows * 1000 + (j + columns) % columns;
      };
      const auto in_own_part = [](int i) { return i > 0 && i <= n; };
      const auto global = [&](int i, int j) { return value(n * here[0] + i - 1, n * here[1] + j - 1); };
      for (int i = 0; i < n + 2; ++i)
        for (int j = 0; j < n + 2; ++j) block.view(i, j) = in_own_part(i) && in_own_part(j) ? global(i, j) : -1;
      run_step_at(place, halo);
      for (int i = 0; i < n + 2; ++i)
        for (int j = 0; j < n + 2; ++j) EXPECT_EQ(block.view(i, j), global(i, j)) << i << ", " << j;
    }
  });
}

TEST(Graph, MessagesOfAPairMeetInTheirOrder) {
  with_every_method([](const Communicator& comm, auto& place) { expect_graph(comm, place, false); });
}

TEST(Graph, BesideSlots) {
  with_every_method([](const Communicator& comm, auto& place) { expect_graph(comm, place, true); });
}

} // namespace
} // namespace kontor::comm::test
