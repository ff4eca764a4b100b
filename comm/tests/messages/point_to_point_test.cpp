// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Typed messages of Views of any rank, layout and scalar.
#include "message_forms.hpp"

namespace kontor::comm::test {
namespace {

/// At every check level.
template <Calls calls, class Out, class In>
void expect_delivered(const Field<Out>& out, const Field<In>& in) {
  with_levels(all_levels, [&](const Communicator& comm) {
    HostViews place;
    expect_delivered<calls>(comm, place, out, in);
  });
}

template <std::size_t rank>
void expect_all_layouts(const Index<rank>& extents) {
  for (const auto storage : all_storage)
    expect_delivered<Calls::each_way>(stored<double>(storage, "out", extents), stored<double>(storage, "in", extents));
}

TEST(PointToPoint, RanksAndLayouts) {
  expect_all_layouts(Index<1>{7});
  expect_all_layouts(Index<2>{4, 5});
  expect_all_layouts(Index<2>{0, 5});
  expect_all_layouts(Index<8>{2, 1, 2, 2, 1, 2, 2, 1});
  const auto every = Calls::every;
  expect_delivered<every>(inside<int, Right>("out", Index<0>{}), inside<int, Right>("in", Index<0>{}));
  expect_delivered<every>(whole<double, Left>("out", Index<2>{4, 5}), inside<double, Left>("in", Index<2>{4, 5}));
  const Index<2> large{60, 400}; // more than any eager message
  expect_delivered<every>(inside<double, Right>("out", large), whole<double, Right>("in", large));
}

/// Extents of 1 have strides that mean nothing: one piece is one piece.
TEST(PointToPoint, OneColumnIsContiguous) {
  const Communicator comm(MPI_COMM_WORLD, {.packing = Packing::none});
  const auto [previous, next] = ring_of(comm);
  const HostView<double**, Left> block("block", 4, 3);
  const auto column = Kokkos::subview(block, std::pair(0, 4), std::pair(1, 2));
  Kokkos::deep_copy(column, comm.rank());
  sendrecv(comm, column, next, Kokkos::subview(block, std::pair(0, 4), std::pair(2, 3)), previous);
  EXPECT_EQ(block(3, 2), previous);
}

TEST(PointToPoint, ConstAndUnmanagedViews) {
  using Unmanaged = Kokkos::View<int*, Stride, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  const auto a = whole<int, Stride>("a", Index<1>{4}), b = whole<int, Stride>("b", Index<1>{4});
  expect_delivered<Calls::every>(Field<HostView<const int*, Stride>>{a.view, a.memory},
                                 Field<Unmanaged>{b.view, b.memory});
  expect_delivered<Calls::every>(Field<Unmanaged>{a.view, a.memory}, b);
}

/// What a receive tells of its message: in a ring, and of messages from everybody to rank 0, as they come.
TEST(PointToPoint, AnyRankAndTag) {
  with_levels(all_levels, [](const Communicator& comm) {
    const Ints message("message", 2);
    const auto [previous, next] = ring_of(comm);
    const auto status = sendrecv(comm, message, next, message, any_source, 7);
    expect_status(status, previous, 7, 8);
    EXPECT_EQ(status.count<int>(), 2);
    expect_status(recv(comm, message, no_rank), no_rank, any_tag, 0);
    EXPECT_EQ(sendrecv(comm, message, no_rank, message, no_rank).source, no_rank);
    if (comm.rank() > 0) {
      Kokkos::deep_copy(message, comm.rank());
      for (int n = 0; n < 3; ++n) send(comm, message, 0, 10 + comm.rank());
      return;
    }
    int sum = 0;
    for (int n = 1; n < comm.size(); ++n) {
      const auto probed = probe(comm);
      expect_status(probed, probed.source, 10 + probed.source, 8);
      expect_status(recv(comm, message, any_source, probed.tag), probed.source, probed.tag, 8);
      EXPECT_EQ(message(1), probed.source);
      auto arriving = irecv(comm, message, any_source, probed.tag);
      arriving.wait();
      expect_status(arriving.status(), probed.source, probed.tag, 8);
      auto tested = irecv(comm, message, probed.source, any_tag);
      while (!tested.test()) {
      }
      EXPECT_EQ(tested.status().tag, probed.tag);
      sum += probed.source;
    }
    EXPECT_EQ(sum, comm.size() * (comm.size() - 1) / 2);
  });
}

struct Particle {
  double x[3];
  int kind;
  char name[5];
};

/// By one call: the others do the same with the scalar.
template <class... Scalars>
void expect_scalars() {
  const Index<2> extents{3, 2};
  (expect_delivered<Calls::one>(inside<Scalars, Left>("out", extents), inside<Scalars, Left>("in", extents)), ...);
}
TEST(PointToPointScalars, Arrive) {
  expect_scalars<signed char, unsigned short, long, float, std::complex<double>, Particle>();
}

/// Types that are the same to the layer travel alike.
template <class T, class Other>
constexpr bool same = scalar_of<T>() == scalar_of<Other>();
static_assert(same<char, std::conditional_t<std::is_signed_v<char>, signed char, unsigned char>>);
static_assert(same<char16_t, unsigned short>);
static_assert(same<wchar_t, std::conditional_t<std::is_signed_v<wchar_t>, int, unsigned>>);
static_assert(same<long long, long> && same<unsigned long long, unsigned long>);
static_assert(same<std::complex<float>, Kokkos::complex<float>>);
static_assert(same<Kokkos::complex<double>, std::complex<double>>);

/// What cannot be compared by random bits: not all of them count.
template <class T>
void expect_value(const T& value) {
  const Communicator comm(MPI_COMM_WORLD);
  const auto [previous, next] = ring_of(comm);
  const HostView<T*> out("out", 2);
  const HostView<T*> in("in", 2);
  out(1) = value;
  sendrecv(comm, out, next, in, previous);
  EXPECT_EQ(in(0), T());
  EXPECT_EQ(in(1), value);
}
TEST(PointToPointScalars, OfWhichNotAllBitsCount) {
  using Complex = Kokkos::complex<double>;
  expect_value(std::array{std::pair(Complex(1, 2), 'a'), std::pair(Complex(), 'b')});
  expect_value(true);
  expect_value(std::complex<long double>(1 / 3.0L, -2));
}

} // namespace
} // namespace kontor::comm::test
