// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rows by index: the ghosts of irregular neighbours must hold the bits that hand-written MPI brings them.
#include "each_method.hpp"

#include <kontor/comm/comm.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <vector>

namespace kontor::comm::test {
namespace {

using Left = Kokkos::LayoutLeft;
using Right = Kokkos::LayoutRight;

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

/// The same on all ranks. Up to two messages between two ranks, to oneself too; everyone sends to rank 0.
/// Some have no rows, some send a row several times. Ghosts begin after the rows that are owned.
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

/// The hand-written twin: what `x` and its ghosts hold after a step.
template <class View>
auto reference(const std::vector<RowEdge>& graph, int me, const Field<View>& x) {
  using T = typename View::value_type;
  std::vector<std::vector<T>> buffers;
  std::vector<MPI_Request> requests;
  const auto bytes = [](const auto& buffer) { return static_cast<int>(buffer.size() * sizeof(T)); };
  const std::size_t columns = x.view.extent(0) > 0 ? x.view.size() / x.view.extent(0) : 1;
  for (const auto& e : graph) {
    auto& buffer = buffers.emplace_back();
    if (e.to == me) {
      buffer.resize(e.received.size() * columns);
      MPI_Irecv(buffer.data(), bytes(buffer), MPI_BYTE, e.from, 0, MPI_COMM_WORLD, &requests.emplace_back());
    }
    if (e.from != me) continue;
    auto& out = buffers.emplace_back();
    for (const auto row : e.sent)
      for (const T* element : row_of(x, row)) out.push_back(*element);
    MPI_Isend(out.data(), bytes(out), MPI_BYTE, e.to, 0, MPI_COMM_WORLD, &requests.emplace_back());
  }
  MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
  std::vector<T> expected(x.memory.begin(), x.memory.end());
  std::size_t b = 0;
  for (const auto& e : graph) {
    const auto& in = buffers[b++];
    if (e.from == me) ++b;
    if (e.to != me) continue;
    std::size_t k = 0;
    for (const auto row : e.received)
      for (const T* element : row_of(x, row))
        expected[static_cast<std::size_t>(element - x.memory.data())] = in[k++];
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
  std::size_t rows = owned;
  for (const auto& e : graph) rows += e.to == me ? e.received.size() : 0;
  const auto x = field<T, Layout, rank>("x", rows);
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
    scramble(x.memory, 1000 * static_cast<std::uint64_t>(me) + static_cast<std::uint64_t>(step));
    auto expected = reference(graph, me, x);
    place.load();
    exchange.start();
    exchange.finish();
    place.store();
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
    exchange.add(place.view(c), std::pair(0, 3), next, place.view(d), list_of<std::int64_t, Place>(to),
                 previous);
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
  const Kokkos::View<int*, Kokkos::HostSpace> x("x", 6);
  const auto list = list_of<int, HostViews>({1, 2});
  Exchange<Kokkos::View<int*, Kokkos::HostSpace>> exchange(comm, "consecutive");
  exchange.add(x, list, next, x, Kokkos::pair<int, int>(4, 6), previous);
  const_cast<int&>(list(0)) = 7;
  exchange.commit();
  EXPECT_EQ(exchange.packing(), Packing::none);
  x(1) = 10 + comm.rank();
  x(2) = 20 + comm.rank();
  exchange.start();
  exchange.finish();
  EXPECT_EQ(x(4), 10 + previous);
  EXPECT_EQ(x(5), 20 + previous);
}

/// A rank whose neighbours need nothing.
TEST(RowsByIndex, EmptyLists) {
  const Communicator comm(MPI_COMM_WORLD);
  const auto [previous, next] = ring_of(comm);
  const Kokkos::View<int*, Kokkos::HostSpace> x("x", 6);
  Exchange<Kokkos::View<int*, Kokkos::HostSpace>> exchange(comm, "empty");
  exchange.add(x, list_of<int, HostViews>({}), next, x, std::pair(6, 6), previous);
  exchange.commit();
  exchange.start();
  exchange.finish();
}

} // namespace
} // namespace kontor::comm::test
