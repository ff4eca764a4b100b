// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What Views may be: of rank 0 to 8, of any layout at either end, and of any scalar.
#include "each_method.hpp"

namespace kontor::comm::test {
namespace {

/// Both legs of a ring, each from Views of one layout to Views of another.
template <class T, std::size_t rank, std::size_t other_rank>
void expect_stored(const Index<rank>& up, const Index<other_rank>& down, Storage a, Storage b, Storage c, Storage d,
                   Contiguity contiguity = Contiguity::no, Patterns patterns = Patterns::all) {
  expect_ring(stored<T>(a, "a", up), stored<T>(b, "b", up), stored<T>(c, "c", down), stored<T>(d, "d", down),
              contiguity, patterns);
}

TEST(Ranks, AndExtents) {
  using enum Storage;
  expect_ring(whole<double, Left>("a", Index<0>{}), inside<double, Right>("b", Index<0>{}),
              inside<double, Left>("c", Index<0>{}), whole<double, Right>("d", Index<0>{}), Contiguity::yes);
  expect_stored<double>(Index<1>{7}, Index<1>{9}, left, inside_right, inside_left, right, Contiguity::yes);
  expect_stored<double>(Index<1>{7}, Index<1>{9}, odd, inside_left, inside_right, inside_odd);
  expect_stored<double>(Index<4>{2, 3, 4, 5}, Index<4>{3, 1, 2, 4}, left, inside_right, inside_left, odd);
  expect_stored<double>(Index<8>{2, 3, 1, 2, 3, 2, 1, 2}, Index<8>{1, 2, 2, 2, 1, 3, 2, 2}, left, right, right, odd);
  // Extents of 1 have strides that mean nothing: both ends are in one piece whatever their layout.
  expect_ring(whole<double, Left>("a", Index<3>{1, 6, 1}), whole<double, Right>("b", Index<3>{1, 6, 1}),
              whole<double, Right>("c", Index<3>{1, 1, 1}), inside<double, Left>("d", Index<3>{1, 1, 1}),
              Contiguity::yes);
  // A row longer than one work item of the pack kernel.
  expect_stored<double>(Index<2>{2, 5000}, Index<2>{4500, 2}, left, inside_right, inside_right, odd, Contiguity::no,
                        Patterns::nonblocking);
}

TEST(Layouts, EveryPair) {
  using enum Storage;
  constexpr std::array wholes{left, right, odd}, insides{inside_left, inside_right, inside_odd};
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 3; ++j) {
      SCOPED_TRACE(fmt::format("{} to {}", i, j));
      expect_stored<double>(Index<2>{5, 4}, Index<3>{6, 1, 3}, insides[i], insides[j], wholes[j], insides[i],
                            Contiguity::no, Patterns::nonblocking);
      expect_stored<double>(Index<2>{5, 4}, Index<3>{6, 1, 3}, wholes[i], insides[j], wholes[i], wholes[j],
                            Contiguity::no, Patterns::nonblocking);
    }
}

TEST(Layouts, DifferOnDifferentRanks) {
  using enum Storage;
  constexpr Storage ways[][4] = {
      {left, inside_right, inside_left, odd}, {inside_right, odd, right, inside_left}, {odd, left, inside_odd, right}};
  const auto& [a, b, c, d] = ways[world_rank() % 3];
  expect_stored<double>(Index<3>{3, 4, 5}, Index<3>{4, 2, 3}, a, b, c, d);
}

struct Particle {
  double position[3];
  std::int32_t id;
  float charge;
};

template <class T>
void expect_scalar() {
  using enum Storage;
  expect_stored<T>(Index<2>{5, 4}, Index<2>{3, 6}, left, inside_right, inside_odd, left, Contiguity::no,
                   Patterns::nonblocking);
}

TEST(Scalars, OfEachKind) {
  expect_scalar<float>();
  expect_scalar<Kokkos::complex<double>>();
  expect_scalar<unsigned char>();
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

/// Both legs share one array, so what one of them must leave alone is what the other writes.
template <class A, class B, class C, class D>
void expect_halo(Field<A> up, Field<B> from_below, Field<C> down, Field<D> from_above) {
  with_every_method([&](const Communicator& comm, auto& place) {
    const auto [previous, next] = ring_of(comm);
    Exchange<Kokkos::View<double*, typename std::decay_t<decltype(place)>::Space>> exchange(comm, "halo");
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

TEST(Halo, Planes) {
  for (const auto storage : {Storage::left, Storage::right, Storage::odd}) {
    const auto plane = stored<double>(storage, "plane", Index<2>{6, 8});
    const auto part = [&](const auto& view) { return Field<std::decay_t<decltype(view)>>{view, plane.memory}; };
    const auto line = [&](int i, auto columns) { return part(Kokkos::subview(plane.view, i, columns)); };
    const auto row = [&](int i) { return line(i, std::pair(1, 7)); };
    const auto column = [&](int j) { return part(Kokkos::subview(plane.view, std::pair(1, 5), j)); };
    const auto rows = [&](int i) { return part(Kokkos::subview(plane.view, std::pair(i, i + 2), Kokkos::ALL())); };
    expect_halo(row(4), row(0), row(1), row(5));
    expect_halo(column(6), column(0), column(1), column(7));
    expect_halo(rows(2), rows(0), rows(2), rows(4));
    expect_halo(line(2, std::pair(2, 6)), column(0), column(3), column(7)); // a row lands in a column
  }
}

} // namespace
} // namespace kontor::comm::test
