// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The halo of a block in a periodic process grid: declared once, then exchanged in every step.
#include "../guarded.hpp"
#include "wave.hpp"

using namespace kontor::comm;

bool run(const Communicator& world) {
  const Communicator grid(world, balanced_dims(world.size(), {0, 0}), {true, true});
  const Wave wave{{grid.dims()[0], grid.dims()[1]}, {grid.coordinates()[0], grid.coordinates()[1]}};

  const Field u("u", cells + 2, cells + 2);
  const Field next("next", cells + 2, cells + 2);
  const std::pair inner(1, cells + 1);
  const auto row = [&](int i) { return Kokkos::subview(u, i, inner); };
  const auto column = [&](int j) { return Kokkos::subview(u, inner, j); };

  Exchange<Field> halo(grid, "halo");
  halo.add(row(1), grid.neighbour(0, -1), row(cells + 1), grid.neighbour(0, +1));
  halo.add(row(cells), grid.neighbour(0, +1), row(0), grid.neighbour(0, -1));
  halo.add(column(1), grid.neighbour(1, -1), column(cells + 1), grid.neighbour(1, +1));
  halo.add(column(cells), grid.neighbour(1, +1), column(0), grid.neighbour(1, -1));
  halo.commit();

  begin(wave, u);
  for (int step = 0; step < steps; ++step) {
    halo.start();
    halo.finish();
    average(u, next);
  }

  const auto [squares, error] = sums(wave, u);
  const double checksum = allreduce(grid, squares, ReduceOp::sum);
  const bool right = allreduce(grid, error, ReduceOp::max) < 1e-10;
  if (grid.rank() == 0)
    std::printf("halo2d: %d x %d blocks, checksum %.9f, %s\n", wave.grid[0], wave.grid[1], checksum,
                right ? "right" : "wrong");
  return right;
}

int main(int argc, char** argv) { return guarded(argc, argv, run); }
