// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What Views may be: of rank 0 to 8, of any layout at either end, and of any scalar.
#include "ring.hpp"

#include <cstdint>
#include <typeinfo>

namespace kontor::comm::test {
namespace {

TEST(Ranks, Zero) {
  expect_ring(whole<double, Left>("a", Index<0>{}), inside<double, Right>("b", Index<0>{}),
              inside<double, Left>("c", Index<0>{}), whole<double, Right>("d", Index<0>{}), Contiguity::yes);
}

TEST(Ranks, One) {
  expect_ring(whole<double, Left>("a", Index<1>{7}), inside<double, Right>("b", Index<1>{7}),
              inside<double, Left>("c", Index<1>{9}), whole<double, Right>("d", Index<1>{9}), Contiguity::yes);
  expect_ring(whole<double, Stride>("a", Index<1>{7}), inside<double, Left>("b", Index<1>{7}),
              inside<double, Right>("c", Index<1>{9}), inside<double, Stride>("d", Index<1>{9}));
}

TEST(Ranks, Four) {
  const Index<4> up{2, 3, 4, 5};
  const Index<4> down{3, 1, 2, 4};
  expect_ring(whole<double, Left>("a", up), inside<double, Right>("b", up), inside<double, Left>("c", down),
              whole<double, Stride>("d", down));
}

TEST(Ranks, Eight) {
  const Index<8> up{2, 3, 1, 2, 3, 2, 1, 2};
  const Index<8> down{1, 2, 2, 2, 1, 3, 2, 2};
  expect_ring(whole<double, Left>("a", up), whole<double, Right>("b", up), whole<double, Right>("c", down),
              whole<double, Stride>("d", down));
}

/// Extents of 1 have strides that mean nothing: both ends are in one piece whatever their layout.
TEST(Ranks, ExtentsOfOneDoNotCount) {
  const Index<3> up{1, 6, 1};
  const Index<3> down{1, 1, 1};
  expect_ring(whole<double, Left>("a", up), whole<double, Right>("b", up), whole<double, Right>("c", down),
              inside<double, Left>("d", down), Contiguity::yes);
}

/// A row longer than one work item of the pack kernel.
TEST(Ranks, LongRows) {
  const Index<2> up{2, 5000};
  const Index<2> down{4500, 2};
  expect_ring(whole<double, Left>("a", up), inside<double, Right>("b", up), inside<double, Right>("c", down),
              whole<double, Stride>("d", down), Contiguity::no, Patterns::nonblocking);
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

template <class Sender>
void expect_from() {
  expect_pair<Sender, Left>();
  expect_pair<Sender, Right>();
  expect_pair<Sender, Stride>();
}
TEST(Layouts, EveryPair) {
  expect_from<Left>();
  expect_from<Right>();
  expect_from<Stride>();
}

/// The ranks need not have the same layouts, nor need the two ends of a message.
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

/// Equal layouts without gaps travel in one piece, so packing `none` is enough.
TEST(Layouts, ContiguousPairsNeedNoPacking) {
  const Index<2> up{5, 4};
  const Index<3> down{2, 3, 4};
  expect_ring(whole<double, Left>("a", up), whole<double, Left>("b", up), whole<double, Right>("c", down),
              whole<double, Right>("d", down), Contiguity::yes);
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

} // namespace
} // namespace kontor::comm::test
