// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rows by index: the ghosts of irregular neighbours must hold the bits of the rows that they stand for.
#include "each_method.hpp"

#include <cstdint>
#include <random>

namespace kontor::comm::test {
namespace {

struct RowParticle {
  double mass;
  float charge;
  std::int32_t id;
};

/// Where a message lands among the ghosts.
enum class Landing { range, list, view };

/// One message: rows of the sender's own, and of the receiver's ghosts.
struct RowEdge {
  int from;
  int to;
  std::vector<std::int64_t> sent;
  std::vector<std::int64_t> received;
  Landing landing;
};

constexpr std::size_t owned = 24;

/// The same on all ranks. Up to two messages between two ranks, to oneself too; everyone sends to rank 0. Some have no
/// rows, some send a row several times. Ghosts begin after the rows that are owned.
std::vector<RowEdge> random_row_graph(int ranks, unsigned seed) {
  std::mt19937 random(seed + static_cast<unsigned>(ranks));
  std::vector<RowEdge> edges;
  std::vector<std::int64_t> ghosts(static_cast<std::size_t>(ranks), owned);
  for (int from = 0; from < ranks; ++from) {
    for (int to = 0; to < ranks; ++to) {
      const auto count = to == 0 ? 1 : random() % 3;
      for (unsigned n = 0; n < count; ++n) {
        RowEdge e{from, to, {}, {}, static_cast<Landing>(random() % 3)};
        const auto rows = random() % 4 == 0 ? 0 : 1 + random() % 11;
        for (unsigned k = 0; k < rows; ++k) {
          e.sent.push_back(static_cast<std::int64_t>(random() % owned));
          e.received.push_back(ghosts[static_cast<std::size_t>(to)]++);
        }
        if (e.landing == Landing::list) std::ranges::shuffle(e.received, random);
        edges.push_back(std::move(e));
      }
    }
  }
  return edges;
}

template <class T, class Layout, std::size_t rank>
auto field(const std::string& label, std::size_t rows) {
  if constexpr (rank == 1)
    return whole<T, Layout>(label, Index<1>{rows});
  else
    return whole<T, Layout>(label, Index<2>{rows, 3});
}

template <class View>
auto row_of(const Field<View>& field, std::int64_t row) {
  using T = typename View::value_type;
  std::vector<T*> elements;
  auto extents = extents_of(field.view);
  extents[0] = 1;
  for_each_index(extents, [&](auto index) {
    index[0] = static_cast<std::size_t>(row);
    elements.push_back(&at(field.view, index));
  });
  return elements;
}

/// How many rows the View of a rank has: its own and the ghosts.
std::size_t rows_of(const std::vector<RowEdge>& graph, int rank) {
  std::size_t rows = owned;
  for (const auto& e : graph) rows += e.to == rank ? e.received.size() : 0;
  return rows;
}

/// Of the bits of a rank's View before a step.
std::uint64_t seed_of(int rank, int step) { return static_cast<std::uint64_t>(1000 * rank + step); }

/// What `x` and its ghosts hold after a step.
template <class T, class Layout, std::size_t rank>
std::vector<T> reference(const std::vector<RowEdge>& graph, int me, int step, const Field<Owning<T, Layout, rank>>& x) {
  std::vector<T> expected(x.memory.begin(), x.memory.end());
  for (const auto& e : graph) {
    if (e.to != me) continue;
    const auto theirs = field<T, Layout, rank>("theirs", rows_of(graph, e.from));
    scramble(theirs.memory, seed_of(e.from, step));
    for (std::size_t k = 0; k < e.sent.size(); ++k) {
      const auto from = row_of(theirs, e.sent[k]);
      const auto to = row_of(x, e.received[k]);
      for (std::size_t c = 0; c < to.size(); ++c) expected[to[c] - x.memory.data()] = *from[c];
    }
  }
  return expected;
}

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

template <class T, class Layout, std::size_t rank, class Index, class Place>
void expect_row_graph(const Communicator& comm, unsigned seed) {
  Place place; // of this graph's Views only
  const int me = comm.rank();
  const auto graph = random_row_graph(comm.size(), seed);
  const auto x = field<T, Layout, rank>("x", rows_of(graph, me));
  const auto view = place.view(x);

  Exchange<Kokkos::View<T*, typename Place::Space>> exchange(comm, "graph");
  for (const auto& e : graph) {
    if (e.from == me) exchange.add_send(view, list_of<Index, Place>(e.sent), e.to);
    if (e.to != me) continue;
    const auto first = e.received.empty() ? 0 : *std::ranges::min_element(e.received);
    const auto range = std::pair(first, first + static_cast<std::int64_t>(e.received.size()));
    switch (e.landing) {
    case Landing::range: exchange.add_receive(view, range, e.from); break;
    case Landing::list: exchange.add_receive(view, list_of<Index, Place>(e.received), e.from); break;
    case Landing::view:
      if constexpr (rank == 1)
        exchange.add_receive(Kokkos::subview(view, range), e.from);
      else
        exchange.add_receive(Kokkos::subview(view, range, Kokkos::ALL), e.from);
    }
  }
  if (!goes_by_index(comm) && std::ranges::any_of(graph, [](const auto& e) { return e.sent.size() > 1; })) {
    EXPECT_THROW(exchange.commit(), UsageError);
    return;
  }
  exchange.commit();
  for (int step = 0; step < 2; ++step) {
    SCOPED_TRACE("step " + std::to_string(step));
    scramble(x.memory, seed_of(me, step));
    auto expected = reference<T, Layout, rank>(graph, me, step, x);
    run_step_at(place, exchange);
    EXPECT_TRUE(equal_bits(x.memory, std::span(expected)));
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

/// Around a ring, by slots: a list to all of a View of another layout, and all of a View to a list.
TEST(RowsByIndex, MeetOtherViews) {
  with_every_method([](const Communicator& comm, auto& place) {
    using Place = std::decay_t<decltype(place)>;
    const auto [previous, next] = ring_of(comm);
    const auto a = whole<double, Left>("a", Index<2>{7, 4});
    const auto b = inside<double, Right>("b", Index<2>{3, 4});
    const auto c = whole<double, Right>("c", Index<2>{3, 4});
    const auto d = whole<double, Left>("d", Index<2>{9, 4});
    const std::vector<std::int64_t> from{5, 0, 5}, to{8, 2, 3};
    Exchange<Kokkos::View<double**, typename Place::Space>> exchange(comm, "ring");
    exchange.add(place.view(a), list_of<int, Place>(from), next, place.view(b), Kokkos::ALL, previous);
    exchange.add(place.view(c), std::pair(0, 3), next, place.view(d), list_of<std::int64_t, Place>(to), previous);
    if (!goes_by_index(comm)) {
      EXPECT_THROW(exchange.commit(), UsageError);
      return;
    }
    exchange.commit();
    const auto value = [](int rank, std::size_t i, std::size_t j) { return 100. * rank + 10. * i + j; };
    for_each_index(Index<2>{7, 4}, [&](const auto& i) { at(a.view, i) = value(comm.rank(), i[0], i[1]); });
    for_each_index(Index<2>{3, 4}, [&](const auto& i) { at(c.view, i) = value(comm.rank(), i[0], i[1]); });
    Kokkos::deep_copy(d.view, -1);
    place.load();
    exchange.start();
    while (!exchange.test()) {
    }
    place.store();
    for_each_index(Index<2>{3, 4}, [&](const auto& i) {
      EXPECT_EQ(at(b.view, i), value(previous, static_cast<std::size_t>(from[i[0]]), i[1]));
      EXPECT_EQ(d.view(to[i[0]], i[1]), value(previous, i[0], i[1]));
    });
    EXPECT_EQ(d.view(0, 0), -1);
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

/// A rank whose neighbours need nothing.
TEST(RowsByIndex, EmptyLists) {
  const Communicator comm(MPI_COMM_WORLD);
  const auto [previous, next] = ring_of(comm);
  const Ints x("x", 6);
  Exchange<Ints> exchange(comm, "empty");
  exchange.add(x, list_of<int, HostViews>({}), next, x, std::pair(6, 6), previous);
  exchange.commit();
  run_step(exchange);
}

} // namespace
} // namespace kontor::comm::test
