// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Halos of fields over process grids; exchanges that are kept together; values of the standard library as Views.
#include "comm_test.hpp"

#include <kontor/comm/faces.hpp>
#include <kontor/comm/view_of.hpp>

#include <array>
#include <numeric>
#include <span>

namespace kontor::comm::test {
namespace {

using Cells = std::array<int, 3>;

/// Of a place of the whole grid of `cells` cells a rank and axis.
int value_at(const Cells& place) { return (place[0] * 100 + place[1]) * 100 + place[2]; }

/// Calls visit(index, value) for each cell of a field of up to 3 dimensions.
template <class View, class Visit>
void each_cell(const View& field, const Visit& visit) {
  constexpr auto rank = static_cast<std::size_t>(View::rank);
  const auto n = [&](std::size_t d) { return d < rank ? static_cast<int>(field.extent(d)) : 1; };
  for (int i = 0; i < n(0); ++i)
    for (int j = 0; j < n(1); ++j)
      for (int k = 0; k < n(2); ++k) {
        if constexpr (rank == 1)
          visit(Cells{i}, field(i));
        else if constexpr (rank == 2)
          visit(Cells{i, j}, field(i, j));
        else
          visit(Cells{i, j, k}, field(i, j, k));
      }
}

/// Every ghost at a face has what the neighbour has there; those at edges, and beyond closed ends, are as they were.
template <class View>
void expect_halo(const Communicator& grid, const std::vector<int>& own, int width) {
  constexpr auto rank = static_cast<std::size_t>(View::rank);
  std::array<std::size_t, 3> all{};
  for (std::size_t d = 0; d < rank; ++d) all[d] = static_cast<std::size_t>(own[d] + 2 * width);
  View field;
  if constexpr (rank == 1)
    field = View("field", all[0]);
  else if constexpr (rank == 2)
    field = View("field", all[0], all[1]);
  else
    field = View("field", all[0], all[1], all[2]);
  const auto outside = [&](const Cells& cell, std::size_t d) { return cell[d] < width || cell[d] >= width + own[d]; };
  const auto place = [&](const Cells& cell) {
    Cells global{};
    for (std::size_t d = 0; d < rank; ++d) {
      const int cells = own[d] * grid.dims()[d];
      global[d] = (grid.coordinates()[d] * own[d] + cell[d] - width + cells) % cells;
    }
    return global;
  };
  const auto ghosts = [&](const Cells& cell) {
    int count = 0;
    for (std::size_t d = 0; d < rank; ++d) count += outside(cell, d) ? 1 : 0;
    return count;
  };
  each_cell(field, [&](const Cells& cell, int& value) { value = ghosts(cell) == 0 ? value_at(place(cell)) : -1; });
  Exchange<View> halo(grid, "halo");
  add_faces(halo, grid, field, width);
  halo.commit();
  halo.start();
  halo.finish();
  each_cell(field, [&](const Cells& cell, int value) {
    bool arrives = ghosts(cell) == 1;
    for (std::size_t d = 0; d < rank; ++d)
      if (outside(cell, d) && grid.neighbour(static_cast<int>(d), cell[d] < width ? -1 : 1) == no_rank) arrives = false;
    EXPECT_EQ(value, arrives || ghosts(cell) == 0 ? value_at(place(cell)) : -1)
        << cell[0] << " " << cell[1] << " " << cell[2];
  });
}

TEST(Faces, HaveWhatNeighboursHave) {
  const Communicator comm(MPI_COMM_WORLD);
  for (const int width : {1, 2})
    for (const bool wraps : {false, true}) {
      SCOPED_TRACE(fmt::format("width {}, periodic {}", width, wraps));
      expect_halo<HostView<int*>>({comm, {comm.size()}, {wraps}}, {3}, width);
      expect_halo<HostView<int**, Left>>({comm, balanced_dims(comm.size(), {0, 0}), {wraps, !wraps}}, {2, 5}, width);
      for (const int axis : {0, 1, 2}) {
        std::vector<int> dims{1, 1, 1};
        dims[static_cast<std::size_t>(axis)] = comm.size();
        expect_halo<HostView<int***, Right>>({comm, dims, {!wraps, wraps, wraps}}, {4, 2, 3}, width);
      }
      expect_halo<HostView<int***>>({comm, balanced_dims(comm.size(), {0, 0, 0}), {wraps, wraps, false}}, {2, 3, 4},
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
