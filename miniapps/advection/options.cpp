// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "advection/options.hpp"

#include <fmt/format.h>

#include <cmath>

namespace kontor::advection {

void Options::describe(config::Visitor& v) {
  v.section("problem", "What is solved: u_t + velocity . grad u = 0 on a periodic rectangle", [&](config::Visitor& p) {
    describe_cells(p);
    p.value("size", size, "Lengths of the rectangle", {0, 1e150, true}, {2, 2});
    p.value("velocity", velocity, "Along x and y, of any sign", {}, {2, 2});
    p.value("courant", courant, "Sum over axes of speed x time step / cell width; at most 1 is stable", {0, 1, true});
    p.value("waves", waves, "The start is a sine with so many waves along x and y", {.min = 0}, {2, 2});
  });
  v.section("solver", "How it is solved", [&](config::Visitor& s) { describe_steps(s); });
  describe_decomposition(v);
}

void Options::resolve(const config::Deck& deck, int ranks, const miniapp::RunOptions& /*run*/) {
  if (velocity[0] == 0 && velocity[1] == 0) deck.fail("problem.velocity", "must not be 0: nothing would move");
  if (!std::isnormal(time_step()))
    deck.fail("problem.velocity", fmt::format("and problem.size lead to a time step of {}; choose others", time_step()),
              "E-DECK-RANGE");
  for (std::size_t axis = 0; axis < 2; ++axis)
    if (const auto n = cells[axis]; 2 * waves[axis] > n || (waves[axis] == 0 && n > 1))
      deck.fail("problem.waves",
                fmt::format("are {} along axis {} of {} cells; choose 1 to half the cells, or 0 for one cell",
                            waves[axis], "xy"[axis], n),
                "E-DECK-RANGE");
  resolve_process_grid(deck, ranks);
}

double Options::time_step() const {
  return courant / (std::abs(velocity[0]) / width(0) + std::abs(velocity[1]) / width(1));
}

} // namespace kontor::advection
