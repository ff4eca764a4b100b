// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// In one step no cell is received twice, and none is received that is sent: the same error on every rank.
#include "comm_test.hpp"

namespace kontor::comm::test {
namespace {

class SharedCells : public OnRing {
 protected:
  void TearDown() override { expect_usable(comm); }
};

/// The last rank receives twice, or sends what it receives.
TEST_F(SharedCells, OfTwoViews) {
  const Plane out("out", 4, 5), in("in", 4, 5), third("third", 4, 5);
  const int before_last = last > 0 ? last - 1 : 0;
  const auto commit = [&](const auto& add, const Communicator& with) {
    Exchange<Doubles> exchange(with, "ring");
    add(exchange);
    exchange.commit();
  };
  const auto row = [](const Plane& plane, int i) { return Kokkos::subview(plane, i, Kokkos::ALL); };
  const auto column = [](const Plane& plane, int j) { return Kokkos::subview(plane, std::pair(0, 4), j); };
  const auto twice = [&](auto& exchange) {
    exchange.add(row(out, 0), next, row(in, 0), previous);
    exchange.add(row(out, 1), next, row(in, is_last ? 0 : 1), previous);
  };
  const auto both_ways = [&](auto& exchange) {
    exchange.add(column(is_last ? in : out, 2), next, column(third, 0), previous);
    exchange.add(row(out, 1), next, row(in, 1), previous);
  };
  const auto reason = ": they share cells, and what receives in a step may not be sent in it, nor receive twice";
  EXPECT_EQ(text_of<AgreedError>([&] { commit(twice, comm); }),
            fmt::format("exchange 'ring': on rank {0}, View 'in', (5) double, receives from rank {1}, and View "
                        "'in', (5) double, receives from rank {1}{2}",
                        last, before_last, reason));
  EXPECT_EQ(text_of<AgreedError>([&] { commit(both_ways, comm); }),
            fmt::format("exchange 'ring': on rank {}, View 'in', (5) double, receives from rank {}, and View "
                        "'in', (4) double, is sent to rank 0{}",
                        last, before_last, reason));
  const auto side_by_side = [&](auto& exchange) {
    for (int j = 0; j < 3; ++j) exchange.add(column(in, 3), next, column(in, j), previous);
    exchange.add(column(in, 0), no_rank, column(in, 3), no_rank); // neither
  };
  EXPECT_NO_THROW(commit(side_by_side, comm));
  EXPECT_NO_THROW(commit(twice, Communicator(MPI_COMM_WORLD, {.check = CheckLevel::off})));
}

/// Of one View, elements that lie upon each other.
TEST_F(SharedCells, OfOneView) {
  using Strided = HostView<double**, Stride>;
  const Doubles storage("storage", 24);
  const Stride apart(3, 4, 4, 1);
  const auto commit = [&](const Stride& of_last) {
    ring_exchange(comm, "ring", Strided(storage.data(), apart),
                  Strided(storage.data() + 12, is_last ? of_last : apart));
  };
  EXPECT_NO_THROW(commit(apart));
  for (const auto& [layout, strides] :
       {std::pair(Stride(3, 1, 4, 1), "(strides 1, 1)"), std::pair(Stride(3, 0, 4, 1), "(strides 0, 1)")}) {
    const auto text = text_of<AgreedError>([&] { commit(layout); });
    expect_facts(
        text, {"exchange 'ring'", fmt::format("on rank {}", last), "(3, 4) double, receives", "share memory", strides});
  }
}

} // namespace
} // namespace kontor::comm::test
