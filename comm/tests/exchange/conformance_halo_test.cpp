// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rows, columns and faces of one array: its interior is sent, its ghost cells receive, and nothing else of it may
// change.
#include "ring.hpp"

#include <algorithm>

namespace kontor::comm::test {
namespace {

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
}

template <class Layout>
void expect_cube_halos() {
  const auto cube = whole<double, Layout>("cube", Index<3>{5, 6, 7});
  const std::pair x(1, 4), y(1, 5), z(1, 6);
  const auto face_x = [&](int i) { return part(Kokkos::subview(cube.view, i, y, z), cube); };
  const auto face_y = [&](int j) { return part(Kokkos::subview(cube.view, x, j, z), cube); };
  const auto face_z = [&](int k) { return part(Kokkos::subview(cube.view, x, y, k), cube); };
  expect_halo(face_x(3), face_x(0), face_x(1), face_x(4));
  expect_halo(face_y(4), face_y(0), face_y(1), face_y(5));
  expect_halo(face_z(5), face_z(0), face_z(1), face_z(6));
}

TEST(Halo, Planes) {
  expect_plane_halos<Left>();
  expect_plane_halos<Right>();
  expect_plane_halos<Stride>();
}
TEST(Halo, Cubes) {
  expect_cube_halos<Left>();
  expect_cube_halos<Right>();
}

/// A row lands in a column.
TEST(Halo, RowToColumn) {
  const auto plane = whole<float, Right>("plane", Index<2>{6, 6});
  const auto row = [&](int i) { return part(Kokkos::subview(plane.view, i, std::pair(1, 5)), plane); };
  const auto column = [&](int j) { return part(Kokkos::subview(plane.view, std::pair(1, 5), j), plane); };
  expect_halo(row(2), column(0), column(3), column(5));
}

} // namespace
} // namespace kontor::comm::test
