// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Messages that are matched by pair of ranks, on graphs without any order, and rows by index: the ghosts of irregular
// neighbours must hold the bits of the rows that they stand for.
#include "each_method.hpp"

#include <random>

namespace kontor::comm::test {
namespace {

struct RowParticle {
  double mass;
  float charge;
  std::int32_t id;
};

/// How one end of a message says which rows: by a range, by a list, or by a View of them.
enum class Rows { range, list, view };

/// The `number`-th message from one rank to another: rows of the sender's own, and of the receiver's ghosts.
struct RowEdge {
  int from;
  int to;
  int number;
  Rows sent_as;
  Rows received_as;
  std::vector<std::int64_t> sent;
  std::vector<std::int64_t> received;
};

constexpr std::size_t owned = 24;

/// The same on all ranks. Up to two messages between two ranks, to oneself too; everyone sends to rank 0; with seed 2
/// rank 1 has no neighbours. Some messages have no rows, some a row several times. Ghosts begin after the owned rows.
std::vector<RowEdge> random_row_graph(int ranks, unsigned seed) {
  std::mt19937 random(seed + static_cast<unsigned>(ranks));
  std::vector<RowEdge> edges;
  std::vector<std::int64_t> ghosts(static_cast<std::size_t>(ranks), owned);
  for (int from = 0; from < ranks; ++from) {
    for (int to = 0; to < ranks; ++to) {
      const int count = to == 0 ? 1 : static_cast<int>(random() % 3);
      for (int n = 0; n < count && !(seed == 2 && (from == 1 || to == 1)); ++n) {
        RowEdge e{from, to, n, static_cast<Rows>(random() % 3), static_cast<Rows>(random() % 3), {}, {}};
        const auto rows = random() % 4 == 0 ? 0 : 1 + random() % 11;
        const auto first = random() % (owned - rows);
        for (unsigned k = 0; k < rows; ++k) {
          e.sent.push_back(static_cast<std::int64_t>(e.sent_as == Rows::list ? random() % owned : first + k));
          e.received.push_back(ghosts[static_cast<std::size_t>(to)]++);
        }
        if (e.received_as == Rows::list) std::ranges::shuffle(e.received, random);
        edges.push_back(std::move(e));
      }
    }
  }
  return edges;
}

/// In an order of the rank's own: peer by peer, or the first messages of all peers before the second ones.
void sort_for(int me, std::vector<RowEdge>& graph) {
  std::ranges::stable_sort(graph, {}, [&](const RowEdge& e) {
    const int peer = e.from == me ? e.to : e.from;
    const int turned = (peer * 3 + me) % 7;
    return me % 2 == 0 ? std::tuple(turned, peer, e.number) : std::tuple(e.number, turned, peer);
  });
}

template <class T, class Layout, std::size_t rank>
auto field(const std::string& label, std::size_t rows) {
  Index<rank> extents{rows};
  if constexpr (rank == 2) extents[1] = 3;
  return whole<T, Layout>(label, extents);
}

/// Some rows, one after the other.
template <class View>
Watched rows_of(const Field<View>& field, const std::vector<std::int64_t>& rows) {
  const auto all = watched(field).places();
  const auto columns = field.view.extent(0) == 0 ? 0 : all.size() / field.view.extent(0);
  std::vector<std::size_t> places;
  for (const auto row : rows)
    places.insert(places.end(), all.begin() + row * columns, all.begin() + (row + 1) * columns);
  return {"rows", sizeof(typename View::value_type), std::as_writable_bytes(field.memory), std::move(places)};
}

/// How many rows the View of a rank has: its own and the ghosts.
std::size_t size_of(const std::vector<RowEdge>& graph, int rank) {
  std::size_t rows = owned;
  for (const auto& e : graph) rows += e.to == rank ? e.received.size() : 0;
  return rows;
}

std::uint64_t seed_of(int rank, int step) { return static_cast<std::uint64_t>(1000 * rank + step); }

/// A list in the memory in which the Views lie.
template <class Index, class Place>
auto list_of(const std::vector<std::int64_t>& indices) {
  using List = Kokkos::View<Index*, typename Place::Space>;
  const List list("list", indices.size());
  const auto host = Kokkos::create_mirror_view(list);
  for (std::size_t i = 0; i < indices.size(); ++i) host(i) = static_cast<Index>(indices[i]);
  Kokkos::deep_copy(list, host);
  return Kokkos::View<const Index*, typename Place::Space>(list);
}

/// Two steps, some of which are ended by test(). Before all messages of pairs, or after them, slots of add(): a list to
/// all of a View of another layout, and all of a View to a list.
template <class T, class Layout, std::size_t rank, class Index, class Place>
void expect_row_graph(const Communicator& comm, unsigned seed) {
  Place place; // of this graph's Views only
  const int me = comm.rank();
  auto graph = random_row_graph(comm.size(), seed);
  sort_for(me, graph);
  const auto x = field<T, Layout, rank>("x", size_of(graph, me));
  const auto view = place.view(x);
  const auto [previous, next] = ring_of(comm);
  using Other = std::conditional_t<std::is_same_v<Layout, Left>, Right, Left>;
  const std::vector<std::int64_t> from{5, 0, 5}, to{8, 2, 3};
  const auto a = field<T, Layout, rank>("a", 7), d = field<T, Layout, rank>("d", 9);
  const auto b = field<T, Other, rank>("b", 3), c = field<T, Other, rank>("c", 3);

  Exchange<Kokkos::View<T*, typename Place::Space>> exchange(comm, "graph");
  const auto add_slots = [&, previous = previous, next = next] {
    if (seed == 2) return;
    exchange.add(place.view(a), list_of<Index, Place>(from), next, place.view(b), Kokkos::ALL, previous);
    exchange.add(place.view(c), std::pair(0, 3), next, place.view(d), list_of<Index, Place>(to), previous);
  };
  const auto add_end = [&](Rows as, const std::vector<std::int64_t>& rows, const auto& add) {
    const auto first = rows.empty() ? 0 : *std::ranges::min_element(rows);
    const auto range = std::pair(first, first + static_cast<std::int64_t>(rows.size()));
    if (as == Rows::range) return add(view, range);
    if (as == Rows::list) return add(view, list_of<Index, Place>(rows));
    if constexpr (rank == 1)
      add(Kokkos::subview(view, range));
    else
      add(Kokkos::subview(view, range, Kokkos::ALL));
  };
  if (me % 2 == 0) add_slots();
  for (const auto& e : graph) {
    const auto add_send = [&](const auto&... rows) { exchange.add_send(rows..., e.to); };
    const auto add_receive = [&](const auto&... rows) { exchange.add_receive(rows..., e.from); };
    if (e.to == me) add_end(e.received_as, e.received, add_receive);
    if (e.from == me) add_end(e.sent_as, e.sent, add_send);
  }
  if (me % 2 == 1) add_slots();
  exchange.add_send(place.view(a), no_rank);
  const auto by_index = [](const RowEdge& e) { return e.sent_as == Rows::list && e.sent.size() > 1; };
  if (!goes_by_index(comm) && (seed != 2 || std::ranges::any_of(graph, by_index))) {
    EXPECT_THROW(exchange.commit(), UsageError);
    return;
  }
  exchange.commit();
  Delivery up(rows_of(a, from), watched(b)), down(watched(c), rows_of(d, to));
  for (int step = 0; step < 2; ++step) {
    SCOPED_TRACE("step " + std::to_string(step));
    up.prepare(comm.native(), next, previous, step, 0);
    down.prepare(comm.native(), next, previous, step, 1);
    const auto memory = std::as_writable_bytes(x.memory);
    scramble(memory, seed_of(me, step));
    Bytes expected(memory.begin(), memory.end());
    for (const auto& e : graph) {
      if (e.to != me) continue;
      const auto theirs = field<T, Layout, rank>("theirs", size_of(graph, e.from));
      scramble(theirs.memory, seed_of(e.from, step));
      rows_of(x, e.received).put(rows_of(theirs, e.sent).elements(), expected);
    }
    place.load();
    exchange.start();
    bool ended = exchange.test();
    while (!ended && (step + me) % 2 == 0) ended = exchange.test();
    if (!ended) exchange.finish();
    place.store();
    EXPECT_TRUE(std::ranges::equal(memory, expected));
    if (seed == 2) continue;
    up.check();
    down.check();
  }
}

TEST(RowsByIndex, RandomGraphs) {
  with_every_method([](const Communicator& comm, const auto& place) {
    using Place = std::decay_t<decltype(place)>;
    expect_row_graph<double, Right, 1, int, Place>(comm, 1);
    expect_row_graph<double, Left, 2, std::int64_t, Place>(comm, 2);
    expect_row_graph<RowParticle, Right, 2, std::uint32_t, Place>(comm, 3);
  });
}

/// What the list holds when it is added counts; and consecutive indices travel as they lie.
TEST(RowsByIndex, ListsAreCopied) {
  const Communicator comm(MPI_COMM_WORLD, method("raw", Packing::none));
  const auto [previous, next] = ring_of(comm);
  const Ints x("x", 6);
  const auto list = list_of<int, HostViews>({1, 2});
  Exchange<Ints> exchange(comm, "consecutive");
  exchange.add(x, list, next, x, Kokkos::pair<int, int>(4, 6), previous);
  const_cast<int&>(list(0)) = 7;
  exchange.commit();
  EXPECT_EQ(exchange.packing(), Packing::none);
  x(1) = 10 + comm.rank();
  x(2) = 20 + comm.rank();
  run_step(exchange);
  EXPECT_EQ(x(4), 10 + previous);
  EXPECT_EQ(x(5), 20 + previous);
}

} // namespace
} // namespace kontor::comm::test
