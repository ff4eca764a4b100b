// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Typed messages deliver the bits that MPI delivers.
#include "views.hpp"
#include "ways.hpp"

#include <kontor/comm/comm.hpp>

#include <gtest/gtest.h>

namespace kontor::comm::test {
namespace {

using Left = Kokkos::LayoutLeft;
using Right = Kokkos::LayoutRight;

TEST(PointToPoint, ThereAndBack) {
  const Communicator comm(MPI_COMM_WORLD);
  const auto [previous, next] = ring_of(comm);
  const auto out = inside<double, Right>("out", Index<2>{4, 5});
  const auto in = inside<double, Right>("in", Index<2>{4, 5});
  for_each_index(extents_of(out.view),
                 [&](const auto& i) { at(out.view, i) = 10. * i[0] + i[1] + 100. * comm.rank(); });
  const auto check = [&](int from) {
    for_each_index(extents_of(in.view),
                   [&](const auto& i) { EXPECT_EQ(at(in.view, i), 10. * i[0] + i[1] + 100. * from); });
    Kokkos::deep_copy(in.view, -1);
  };
  exchange(comm, out.view, next, in.view, previous);
  check(previous);
  auto sent = isend(comm, out.view, next);
  recv(comm, in.view, previous);
  EXPECT_EQ(sent.wait(), out.view);
  check(previous);
  auto received = irecv(comm, in.view, previous);
  send(comm, out.view, next);
  received.wait();
  check(previous);
  iexchange(comm, out.view, next, in.view, previous).wait();
  check(previous);
}

} // namespace
} // namespace kontor::comm::test
