// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Halos of fields over process grids; exchanges that are kept together; values of the standard library as Views.
#include "comm_test.hpp"
#include "views.hpp"

#include <kontor/comm/faces.hpp>
#include <kontor/comm/view_of.hpp>

#include <array>
#include <numeric>
#include <span>

namespace kontor::comm::test {
namespace {

/// Every ghost at a face has what the neighbour has there; those at edges, and beyond closed ends, are as they were.
template <class Layout, std::size_t rank>
void expect_halo(const Communicator& grid, const Index<rank>& own, int width) {
  auto all = own;
  for (auto& cells : all) cells += static_cast<std::size_t>(2 * width);
  const auto field = whole<int, Layout>("field", all).view;
  /// Calls visit(cell, ghost, value): of how many dimensions the cell is a ghost, whether a neighbour is beyond, and
  /// the number of its place in the whole grid.
  const auto visit_cells = [&](const auto& visit) {
    Index<rank> cell{};
    for (bool more = true; more;) {
      int ghost = 0, value = 0;
      bool arrives = true;
      for (std::size_t d = 0; d < rank; ++d) {
        const int n = static_cast<int>(own[d]), place = static_cast<int>(cell[d]) - width;
        const int side = place < 0 ? -1 : place >= n;
        ghost += side != 0;
        if (side != 0 && grid.neighbour(static_cast<int>(d), side) == no_rank) arrives = false;
        const int cells = n * grid.dims()[d];
        value = value * 100 + (grid.coordinates()[d] * n + place + cells) % cells;
      }
      std::apply([&](auto... i) { visit(field(i...), ghost == 0 || (ghost == 1 && arrives), ghost, value); }, cell);
      std::size_t d = 0;
      while (d < rank && ++cell[d] == all[d]) cell[d++] = 0;
      more = d < rank;
    }
  };
  visit_cells([](int& cell, bool, int ghost, int value) { cell = ghost == 0 ? value : -1; });
  Exchange<std::remove_const_t<decltype(field)>> halo(grid, "halo");
  add_faces(halo, grid, field, width);
  halo.commit();
  run_step(halo);
  visit_cells([](int& cell, bool known, int, int value) { EXPECT_EQ(cell, known ? value : -1); });
}

TEST(Faces, HaveWhatNeighboursHave) {
  const Communicator comm(MPI_COMM_WORLD);
  for (const int width : {1, 2})
    for (const bool wraps : {false, true}) {
      SCOPED_TRACE(fmt::format("width {}, periodic {}", width, wraps));
      expect_halo<Right>({comm, {comm.size()}, {wraps}}, Index<1>{3}, width);
      expect_halo<Left>({comm, balanced_dims(comm.size(), {0, 0}), {wraps, !wraps}}, Index<2>{2, 5}, width);
      for (const std::size_t axis : {0, 1, 2}) {
        std::vector<int> dims{1, 1, 1};
        dims[axis] = comm.size();
        expect_halo<Right>({comm, dims, {!wraps, wraps, wraps}}, Index<3>{4, 2, 3}, width);
      }
      expect_halo<Right>({comm, balanced_dims(comm.size(), {0, 0, 0}), {wraps, wraps, false}}, Index<3>{2, 3, 4},
                         width);
    }
}

TEST(Faces, ThatCannotBeAreRefused) {
  const Communicator comm(MPI_COMM_WORLD), grid(comm, {comm.size()}, {true});
  Exchange<Ints> halo(grid, "halo");
  Exchange<HostView<int**>> planes(grid, "planes");
  expect_error<CallError>([&] { add_faces(halo, comm, Ints("u", 9)); },
                          {"'u' has 1 dimensions and the process grid has 0"});
  expect_error<CallError>([&] { add_faces(planes, grid, HostView<int**>("p", 9, 9)); },
                          {"2 dimensions and the process grid has 1"});
  expect_error<CallError>([&] { add_faces(halo, grid, Ints("u", 5), 2); }, {"'u' has 5 cells", "needs 6 or more"});
  expect_error<CallError>([&] { add_faces(halo, grid, Ints("u", 9), 0); }, {"ghosts of width 0"});
}

/// Of different Views, in one container; one of none is an error.
TEST(Exchanges, AreKeptTogether) {
  const Communicator comm(MPI_COMM_WORLD);
  const auto [previous, next] = ring_of(comm);
  const Ints out("out", 2), in("in", 2);
  const Doubles more_out("out", 3), more_in("in", 3);
  Kokkos::deep_copy(out, comm.rank());
  Kokkos::deep_copy(more_out, comm.rank() + 0.5);
  Exchange<Ints> later;
  expect_error<CallError>([&] { later.commit(); }, {"never assigned to"});
  later = Exchange<Ints>(comm, "ints");
  later.add(out, next, in, previous);
  std::vector<std::unique_ptr<ExchangeBase>> all;
  all.push_back(std::make_unique<Exchange<Ints>>(std::move(later)));
  auto doubles = std::make_unique<Exchange<Doubles>>(comm, "doubles");
  doubles->add(more_out, next, more_in, previous);
  all.push_back(std::move(doubles));
  for (auto& one : all) one->commit();
  for (auto& one : all) one->start();
  for (auto& one : all) one->finish();
  EXPECT_EQ(in(1), previous);
  EXPECT_EQ(more_in(2), previous + 0.5);
}

TEST(ViewOf, ValuesOfTheStandardLibrary) {
  const Communicator comm(MPI_COMM_WORLD);
  std::vector<double> out(3);
  std::iota(out.begin(), out.end(), comm.rank());
  std::array<double, 3> in{};
  const auto [previous, next] = ring_of(comm);
  sendrecv(comm, view_of(std::as_const(out)), next, view_of(in), previous);
  EXPECT_EQ(in[2], previous + 2);
  allreduce(comm, view_of(std::span(out).subspan(1)), ReduceOp::max);
  EXPECT_EQ(out, (std::vector<double>{comm.rank() + 0.0, comm.size() + 0.0, comm.size() + 1.0}));
  EXPECT_EQ(view_of(out).data(), out.data());
}

} // namespace
} // namespace kontor::comm::test
