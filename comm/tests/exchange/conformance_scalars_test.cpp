// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What one element may be.
#include "ring.hpp"

namespace kontor::comm::test {
namespace {

using Left = Kokkos::LayoutLeft;
using Right = Kokkos::LayoutRight;
using Stride = Kokkos::LayoutStride;

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
              whole<T, Left>("d", down));
}

TEST(Scalars, Int) {
  expect_scalar<int>();
}
TEST(Scalars, Float) {
  expect_scalar<float>();
}
TEST(Scalars, Complex) {
  expect_scalar<Kokkos::complex<double>>();
}
TEST(Scalars, UnsignedByte) {
  expect_scalar<unsigned char>();
}
TEST(Scalars, Pair) {
  expect_scalar<std::pair<float, int>>();
}
/// Their Views differ between versions of Kokkos, so this one is without the others' helpers.
TEST(Scalars, KokkosArray) {
  using Vectors = Kokkos::View<Kokkos::Array<double, 3>**, Right, Kokkos::HostSpace>;
  for (const auto& method : methods(Contiguity::yes)) {
    SCOPED_TRACE(to_string(method));
    const Communicator comm(MPI_COMM_WORLD, method);
    const auto [previous, next] = ring_of(comm);
    const Vectors out("out", 4, 2), in("in", 4, 2);
    const auto value = [](int rank, int i, int j, int k) { return 1000. * rank + 100 * i + 10 * j + k; };
    const auto for_all = [](const auto& f) {
      for (int n = 0; n < 24; ++n) f(n / 6, n / 3 % 2, n % 3);
    };
    for_all([&](int i, int j, int k) { out(i, j)[k] = value(comm.rank(), i, j, k); });
    Exchange<Vectors> exchange(comm, "vectors");
    exchange.add(out, next, in, previous);
    exchange.commit();
    exchange.start();
    exchange.finish();
    for_all([&](int i, int j, int k) { EXPECT_EQ(in(i, j)[k], value(previous, i, j, k)); });
  }
}
TEST(Scalars, Struct) {
  expect_scalar<Particle>();
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

} // namespace
} // namespace kontor::comm::test
