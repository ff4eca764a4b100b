// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Typed messages of Views of any rank, layout and scalar.
#include "each_method.hpp"

namespace kontor::comm::test {
namespace {

/// By these calls Views must deliver the bits that MPI_Sendrecv delivers.
using Call = std::function<void(const Communicator& comm, int next, int previous)>;

/// Around a closed ring, and along a row of ranks with two ends, at every check level.
void expect_delivered(Delivery delivery, std::initializer_list<Call> calls) {
  with_levels(all_levels, [&](const Communicator& comm) {
    for (const bool periodic : {true, false}) {
      const auto [previous, next] = ring_of(comm, periodic);
      int step = 0;
      for (const auto& call : calls) {
        SCOPED_TRACE("call " + std::to_string(step) + (periodic ? ", periodic" : ", closed"));
        delivery.prepare(comm.native(), next, previous, step++, 0);
        call(comm, next, previous);
        delivery.check();
      }
    }
  });
}

/// A View's type decides how it is lent to a call: to be read or written, for the time of the call or longer. So all
/// are lent in each way, and `every_call` is for a few of them.
enum class Which { each_way, every_call };

/// By calls that move one View to the next rank and another from the previous one.
template <Which which, class Out, class In>
void expect_delivered(const Field<Out>& out_field, const Field<In>& in_field) {
  const auto& out = out_field.view;
  const auto& in = in_field.view;
  if constexpr (which == Which::each_way)
    return expect_delivered(
        Delivery(watched(out_field), watched(in_field)),
        {
            [&](const Communicator& comm, int next, int previous) { sendrecv(comm, out, next, in, previous); },
            [&](const Communicator& comm, int next, int previous) {
              auto receiving = irecv(comm, in, previous);
              isend(comm, out, next).wait();
              receiving.wait();
            },
        });
  expect_delivered(
      Delivery(watched(out_field), watched(in_field)),
      {
          [&](const Communicator& comm, int next, int previous) { sendrecv(comm, out, next, in, previous, 3); },
          [&](const Communicator& comm, int next, int previous) {
            auto request = isend(comm, out, next, comm.tag_limit());
            recv(comm, in, previous, comm.tag_limit());
            EXPECT_EQ(request.wait().data(), out.data());
          },
          [&](const Communicator& comm, int next, int previous) {
            auto request = irecv(comm, in, previous == no_rank ? no_rank : any_source, any_tag);
            send(comm, out, next, 7);
            EXPECT_EQ(request.wait().data(), in.data());
          },
      });
}

template <class T, class Layout, Which which = Which::each_way, std::size_t rank>
void expect_delivered(const Index<rank>& extents) {
  const auto as = [](const auto& field) {
    if constexpr (which == Which::each_way)
      return strided(field);
    else
      return field;
  };
  expect_delivered<which>(as(whole<T, Layout>("out", extents)), as(whole<T, Layout>("in", extents)));
  expect_delivered<which>(as(inside<T, Layout>("out", extents)), as(inside<T, Layout>("in", extents)));
}

template <class T, std::size_t rank>
void expect_all_layouts(const Index<rank>& extents) {
  expect_delivered<T, Left, Which::every_call>(extents);
  expect_delivered<T, Right>(extents);
  expect_delivered<T, Stride>(extents);
}

TEST(PointToPoint, RanksAndLayouts) {
  expect_delivered<double, Right>(Index<0>{});
  expect_all_layouts<double>(Index<1>{7});
  expect_all_layouts<double>(Index<2>{4, 5});
  expect_all_layouts<double>(Index<2>{0, 5});
  expect_delivered<int, Left>(Index<3>{2, 3, 4});
  expect_delivered<double, Left>(Index<8>{2, 1, 2, 2, 1, 2, 2, 1});
  expect_delivered<double, Right>(Index<8>{2, 1, 2, 2, 1, 2, 2, 1});
  expect_delivered<double, Right, Which::every_call>(Index<2>{60, 400}); // more than any eager message
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
  EXPECT_EQ(extents(HostView<int* [2][3]>("array", 4)), (std::array<std::size_t, 3>{4, 2, 3}));
  EXPECT_EQ(extents(HostView<int>("number")), (std::array<std::size_t, 0>{}));
}

TEST(PointToPoint, ConstAndUnmanagedViews) {
  using Unmanaged = Kokkos::View<int*, Stride, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  const auto a = whole<int, Stride>("a", Index<1>{4}), b = whole<int, Stride>("b", Index<1>{4});
  expect_delivered<Which::every_call>(Field<HostView<const int*, Stride>>{a.view, a.memory},
                                      Field<Unmanaged>{b.view, b.memory});
  expect_delivered<Which::every_call>(Field<Unmanaged>{a.view, a.memory}, b);
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
  const auto expect = [](const auto& out, const auto& in) {
    SCOPED_TRACE(typeid(in.view).name());
    expect_delivered(Delivery(watched(out), watched(in)), {[&](const Communicator& comm, int next, int previous) {
                       sendrecv(comm, out.view, next, in.view, previous);
                     }});
  };
  const Index<2> extents{3, 2};
  (expect(inside<Scalars, Left>("out", extents), inside<Scalars, Left>("in", extents)), ...);
}
TEST(PointToPointScalars, Arrive) {
  expect_scalars<signed char, unsigned char, short, unsigned short, int, unsigned, long, unsigned long, float, double,
                 Kokkos::complex<float>, std::complex<double>, Particle>();
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
  expect_value(std::pair(3, 0.5));
  expect_value(std::array{std::pair(Complex(1, 2), 'a'), std::pair(Complex(), 'b')});
  expect_value(true);
  expect_value(1 / 3.0L);
  expect_value(std::complex<long double>(1 / 3.0L, -2));
}

} // namespace
} // namespace kontor::comm::test
