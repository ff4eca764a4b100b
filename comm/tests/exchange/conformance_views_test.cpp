// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What Views may be: of rank 0 to 8, of any layout at either end, and of any scalar.
#include "each_method.hpp"

namespace kontor::comm::test {
namespace {

TEST(Ranks, AndExtents) {
  const Index<4> up{2, 3, 4, 5}, down{3, 1, 2, 4};
  const Index<8> far{2, 3, 1, 2, 3, 2, 1, 2}, back{1, 2, 2, 2, 1, 3, 2, 2};
  expect_ring(whole<double, Left>("a", Index<0>{}), inside<double, Right>("b", Index<0>{}),
              inside<double, Left>("c", Index<0>{}), whole<double, Right>("d", Index<0>{}), Contiguity::yes);
  expect_ring(whole<double, Left>("a", Index<1>{7}), inside<double, Right>("b", Index<1>{7}),
              inside<double, Left>("c", Index<1>{9}), whole<double, Right>("d", Index<1>{9}), Contiguity::yes);
  expect_ring(whole<double, Stride>("a", Index<1>{7}), inside<double, Left>("b", Index<1>{7}),
              inside<double, Right>("c", Index<1>{9}), inside<double, Stride>("d", Index<1>{9}));
  expect_ring(whole<double, Left>("a", up), inside<double, Right>("b", up), inside<double, Left>("c", down),
              whole<double, Stride>("d", down));
  expect_ring(whole<double, Left>("a", far), whole<double, Right>("b", far), whole<double, Right>("c", back),
              whole<double, Stride>("d", back));
  // Extents of 1 have strides that mean nothing: both ends are in one piece whatever their layout.
  expect_ring(whole<double, Left>("a", Index<3>{1, 6, 1}), whole<double, Right>("b", Index<3>{1, 6, 1}),
              whole<double, Right>("c", Index<3>{1, 1, 1}), inside<double, Left>("d", Index<3>{1, 1, 1}),
              Contiguity::yes);
  // A row longer than one work item of the pack kernel.
  expect_ring(whole<double, Left>("a", Index<2>{2, 5000}), inside<double, Right>("b", Index<2>{2, 5000}),
              inside<double, Right>("c", Index<2>{4500, 2}), whole<double, Stride>("d", Index<2>{4500, 2}),
              Contiguity::no, Patterns::nonblocking);
}

template <class Sender, class Receiver>
void expect_pair() {
  SCOPED_TRACE(std::string(typeid(Sender).name()) + " to " + typeid(Receiver).name());
  const Index<2> up{5, 4};
  const Index<3> down{6, 1, 3};
  expect_ring(inside<double, Sender>("a", up), inside<double, Receiver>("b", up), whole<double, Receiver>("c", down),
              inside<double, Sender>("d", down), Contiguity::no, Patterns::nonblocking);
  expect_ring(whole<double, Sender>("a", down), whole<double, Receiver>("b", down), inside<double, Receiver>("c", up),
              whole<double, Sender>("d", up), Contiguity::no, Patterns::nonblocking);
}

template <class... Receivers>
void expect_pairs() {
  (expect_pair<Left, Receivers>(), ...);
  (expect_pair<Right, Receivers>(), ...);
  (expect_pair<Stride, Receivers>(), ...);
}
TEST(Layouts, EveryPair) { expect_pairs<Left, Right, Stride>(); }

TEST(Layouts, DifferOnDifferentRanks) {
  const int rank = world_rank();
  const Index<3> up{3, 4, 5};
  const Index<3> down{4, 2, 3};
  if (rank % 3 == 0)
    expect_ring(whole<double, Left>("a", up), inside<double, Right>("b", up), inside<double, Left>("c", down),
                whole<double, Stride>("d", down));
  else if (rank % 3 == 1)
    expect_ring(inside<double, Right>("a", up), whole<double, Stride>("b", up), whole<double, Right>("c", down),
                inside<double, Left>("d", down));
  else
    expect_ring(whole<double, Stride>("a", up), whole<double, Left>("b", up), inside<double, Stride>("c", down),
                whole<double, Right>("d", down));
}

struct Particle {
  double position[3];
  std::int32_t id;
  float charge;
};

template <class T>
void expect_scalar() {
  const Index<2> up{5, 4};
  const Index<2> down{3, 6};
  expect_ring(whole<T, Left>("a", up), inside<T, Right>("b", up), inside<T, Stride>("c", down),
              whole<T, Left>("d", down), Contiguity::no, Patterns::nonblocking);
}

TEST(Scalars, OfEachKind) {
  expect_scalar<int>();
  expect_scalar<float>();
  expect_scalar<Kokkos::complex<double>>();
  expect_scalar<unsigned char>();
  expect_scalar<std::pair<float, int>>();
  expect_scalar<Particle>();
}
/// Their Views differ between versions of Kokkos, so this one is without the others' helpers.
TEST(Scalars, KokkosArray) {
  with_options(methods(Contiguity::yes), [](const Communicator& comm) {
    const int previous = ring_of(comm).first;
    const HostView<Kokkos::Array<double, 3>**, Right> out("out", 4, 2), in("in", 4, 2);
    const auto value = [](int rank, int i, int j, int k) { return 1000. * rank + 100 * i + 10 * j + k; };
    const auto for_all = [](const auto& f) {
      for (int n = 0; n < 24; ++n) f(n / 6, n / 3 % 2, n % 3);
    };
    for_all([&](int i, int j, int k) { out(i, j)[k] = value(comm.rank(), i, j, k); });
    auto exchange = ring_exchange(comm, "vectors", out, in);
    run_step(exchange);
    for_all([&](int i, int j, int k) { EXPECT_EQ(in(i, j)[k], value(previous, i, j, k)); });
  });
}

/// Several fields to one neighbour, which share a message where a kernel packs.
TEST(Scalars, SeveralInOneExchange) {
  const auto a = inside<double, Left>("a", Index<2>{5, 4}); // its order is not that of bytes
  const auto b = inside<double, Left>("b", Index<2>{5, 4});
  const auto c = inside<Particle, Left>("c", Index<2>{3, 3});
  const auto d = inside<Particle, Stride>("d", Index<2>{3, 3});
  const auto e = whole<char, Right>("e", Index<2>{3, 5});
  const auto f = inside<char, Left>("f", Index<2>{3, 5});
  const auto g = whole<float, Right>("g", Index<1>{7});
  const auto h = whole<float, Right>("h", Index<1>{7});
  with_every_method([&](const Communicator& comm, auto& place) {
    const auto [previous, next] = ring_of(comm, false);
    const auto leg = [&, from = previous, to = next](const auto& out, const auto& in) {
      return Leg<std::decay_t<decltype(out.view)>, std::decay_t<decltype(in.view)>>{out, to, in, from};
    };
    expect_steps(comm, place, leg(a, b), leg(c, d), leg(e, f), leg(g, h));
  });
}

template <class View, class Owner>
Field<View> part(const View& view, const Owner& owner) {
  return {view, owner.memory};
}

/// Both legs share one array, so what one of them must leave alone is what the other writes.
template <class A, class B, class C, class D>
void expect_halo(Field<A> up, Field<B> from_below, Field<C> down, Field<D> from_above) {
  using T = typename Field<A>::value_type;
  with_every_method([&](const Communicator& comm, auto& place) {
    const auto [previous, next] = ring_of(comm);
    Exchange<Kokkos::View<T*, typename std::decay_t<decltype(place)>::Space>> exchange(comm, "halo");
    exchange.add(place.view(up), next, place.view(from_below), previous);
    exchange.add(place.view(down), previous, place.view(from_above), next);
    exchange.commit();
    const auto memory = std::as_writable_bytes(up.memory);
    for (int step = 0; step < 3; ++step) {
      scramble(memory, static_cast<std::uint64_t>(100 * comm.rank() + step));
      Bytes expected(memory.begin(), memory.end());
      const auto into = watched(from_below), other_into = watched(from_above);
      into.put(delivered(comm.native(), watched(up), next, into, previous), expected);
      other_into.put(delivered(comm.native(), watched(down), previous, other_into, next), expected);
      run_step_at(place, exchange);
      EXPECT_TRUE(std::ranges::equal(memory, expected)) << "step " << step;
    }
  });
}

template <class Layout>
void expect_plane_halos() {
  const auto plane = whole<double, Layout>("plane", Index<2>{6, 8});
  const auto row = [&](int i) { return part(Kokkos::subview(plane.view, i, std::pair(1, 7)), plane); };
  const auto column = [&](int j) { return part(Kokkos::subview(plane.view, std::pair(1, 5), j), plane); };
  const auto rows = [&](int i) { return part(Kokkos::subview(plane.view, std::pair(i, i + 2), Kokkos::ALL()), plane); };
  expect_halo(row(4), row(0), row(1), row(5));
  expect_halo(column(6), column(0), column(1), column(7));
  expect_halo(rows(2), rows(0), rows(2), rows(4));
  const auto short_row = part(Kokkos::subview(plane.view, 2, std::pair(2, 6)), plane);
  expect_halo(short_row, column(0), column(3), column(7)); // a row lands in a column
}

TEST(Halo, Planes) {
  expect_plane_halos<Left>();
  expect_plane_halos<Right>();
  expect_plane_halos<Stride>();
}

} // namespace
} // namespace kontor::comm::test
