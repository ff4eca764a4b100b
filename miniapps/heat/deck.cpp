// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "grid/functions.hpp"
#include "grid/process_grid.hpp"
#include "grid/sizing.hpp"
#include "heat/options.hpp"

#include <kontor/config/unused.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <string_view>

namespace kontor::heat {
namespace {

using config::Named;
using config::Tagged;
using config::Visitor;

constexpr std::array<Named<Equation>, 2> equations{{{"steady", Equation::steady}, {"transient", Equation::transient}}};
constexpr std::array<Named<Norm>, 2> norms{{{"max", Norm::max}, {"l2", Norm::l2}}};
constexpr std::array<Named<SweepKernel>, 2> kernels{{{"auto", SweepKernel::tuned}, {"plain", SweepKernel::plain}}};
constexpr std::array<Named<Stores>, 3> stores_names{
    {{"auto", Stores::automatic}, {"streaming", Stores::streaming}, {"ordinary", Stores::ordinary}}};
constexpr std::array<Tagged<Condition>, 3> conditions{{{"dirichlet", Condition::dirichlet, true},
                                                       {"neumann", Condition::neumann, true},
                                                       {"periodic", Condition::periodic, false}}};

constexpr std::array<std::string_view, 3> in_space{"x", "y", "z"};
constexpr std::array<std::string_view, 4> in_space_and_time{"x", "y", "z", "t"};
constexpr std::array<std::string_view, 8> in_exact{"x", "y", "z", "t", "nx", "ny", "nz", "sweeps"};

void refuse_other_dimensions(const config::Deck& deck, std::string_view key, std::size_t found,
                             std::size_t dimensions) {
  if (found != dimensions) deck.fail(key, fmt::format("has length {}; that of problem.cells is {}", found, dimensions));
}

void resolve_domain(Options& o, const config::Deck& deck) {
  const auto n = o.cells.size();
  if (o.lower.empty()) o.lower.assign(n, 0.0);
  if (o.upper.empty()) o.upper.assign(n, 1.0);
  refuse_other_dimensions(deck, "problem.domain.lower", o.lower.size(), n);
  refuse_other_dimensions(deck, "problem.domain.upper", o.upper.size(), n);
  constexpr double least = 1e-150, most = 1e150; // 1/h^2 is finite and above 0
  for (std::size_t d = 0; d < n; ++d) {
    if (!(o.upper[d] > o.lower[d]))
      deck.fail(fmt::format("problem.domain.upper[{}]", d),
                fmt::format("is {}, which is not above problem.domain.lower[{}], {}", o.upper[d], d, o.lower[d]));
    const double width = (o.upper[d] - o.lower[d]) / static_cast<double>(o.cells[d]);
    if (!(width >= least && width <= most))
      deck.fail(fmt::format("problem.domain.upper[{}]", d),
                fmt::format("is {}, which makes cells of width {:g}; allowed are widths from {:g} to {:g}: choose "
                            "another unit of length",
                            o.upper[d], width, least, most),
                "E-DECK-RANGE");
  }
}

void resolve_faces(const Options& o, const config::Deck& deck) {
  const auto periodic = [&](int face) { return o.faces[face].condition == Condition::periodic; };
  for (int d = 0; d < o.dimensions(); ++d) {
    if (periodic(2 * d) == periodic(2 * d + 1)) continue;
    const int lone = periodic(2 * d) ? 2 * d : 2 * d + 1, other = lone ^ 1;
    deck.fail(fmt::format("problem.boundary.{}", grid::face_names[lone]),
              fmt::format("is periodic, but problem.boundary.{} is not; both ends of an axis must be",
                          grid::face_names[other]));
  }
}

/// Without a Dirichlet face the steady solution is fixed up to a constant only, so sweeps do not converge to one
/// answer; a fixed number of sweeps still is a well-defined task.
void resolve_steady(const Options& o, const config::Deck& deck) {
  if (!grid::any_face(o.faces, o.dimensions(), Condition::dirichlet) && *o.tolerance > 0)
    deck.fail("problem.boundary", "has no dirichlet face, so a steady solution is not unique; give one, or set "
                                  "solver.tolerance to 0 for a fixed number of sweeps");
}

void resolve_step(Options& o, const config::Deck& deck) {
  const double limit = o.stable_step();
  if (o.time_step && *o.time_step > limit)
    deck.fail("time.step",
              fmt::format("is {}, above the largest stable step {:.6g} = 1 / (2 alpha sum 1/h^2); "
                          "choose a smaller one, or auto",
                          *o.time_step, limit),
              "E-DECK-RANGE");
  constexpr double most = 1e12;
  if (!(o.step_count() <= most))
    deck.fail("time.end",
              fmt::format("is {}, which takes {:.3g} steps; at most {:.0e} are possible. Choose an earlier "
                          "end, {}",
                          o.end_time, o.step_count(), most,
                          o.time_step ? "or a longer time.step" : "fewer cells, or a smaller diffusivity"),
              "E-DECK-RANGE");
}

/// Indices and sizes in bytes must fit in 64 bits, with much to spare.
void refuse_too_many_cells(const Options& o, const config::Deck& deck) {
  constexpr double most = 1e15;
  const double cells = std::accumulate(o.cells.begin(), o.cells.end(), 1.0, std::multiplies<>());
  if (cells > most)
    deck.fail("problem.cells",
              fmt::format("[{}] are {:.3g} cells; at most {:.0e} are possible", fmt::join(o.cells, ", "), cells, most),
              "E-DECK-RANGE");
}

void refuse_unused(const Options& o, const config::Deck& deck) {
  const config::UnusedKeys unused(deck, o);
  for (const auto* face : {"problem.boundary.z_min", "problem.boundary.z_max"})
    unused.refuse_unless(o.dimensions() == 3, face, "problem.cells must have three extents");
  unused.refuse_unless(o.equation == Equation::transient, "time", "problem.equation must be transient");
  for (const auto* key : {"solver.tolerance", "solver.max_sweeps"})
    unused.refuse_unless(o.equation == Equation::steady, key, "problem.equation must be steady");
  for (const auto* key : {"solver.stores", "solver.steps_per_pass"})
    unused.refuse_unless(o.kernel == SweepKernel::tuned, key, "solver.kernel must be auto");
}

} // namespace

double Options::stable_step() const {
  double sum = 0;
  for (int d = 0; d < dimensions(); ++d) sum += 1 / (spacing(d) * spacing(d));
  return 1 / (2 * diffusivity * sum);
}

double Options::step_count() const {
  const double longest = time_step.value_or(0.9 * stable_step());
  constexpr double rounding = 1e-9; // a step that divides the end time but for rounding does divide it
  return std::max(1.0, std::ceil(end_time / longest - rounding));
}

void Options::describe(Visitor& v) {
  v.section("problem", "What is solved: alpha lap(u) + source = 0, or = du/dt", [&](Visitor& p) {
    p.choice<Equation>("equation", equation, equations, "Steady by Jacobi sweeps, or transient by Euler steps");
    p.value("cells", cells, "Cells along x, y and, in 3-D, z", {1, std::int64_t{1} << 40}, {2, 3});
    sizing.describe(p, "cells");
    p.section("domain", "The box that the cells fill", [&](Visitor& d) {
      d.value("lower", lower, "Its lower corner; empty: the origin", {}, {0, 3});
      d.value("upper", upper, "Its upper corner; empty: ones", {}, {0, 3});
    });
    p.choice<Precision>("precision", precision, miniapp::precision_names, "The scalar type of the fields");
    p.value("diffusivity", diffusivity, "alpha, in length^2/time", {0, 1e300, true});
    p.value("initial", initial, in_space, "u before the first sweep or step");
    p.value("source", source, in_space_and_time, "Heating rate, u per time");
    p.value("exact", exact, in_exact, "The exact solution that the result is verified against");
    p.section("boundary", "Conditions on the faces; those of z count in 3-D only", [&](Visitor& b) {
      grid::describe_faces<Condition>(b, faces, conditions, in_space_and_time,
                                      "u = value, outward du/dn = value, or periodic");
    });
  });
  v.section("solver", "When sweeps stop, and how they are made", [&](Visitor& s) {
    s.value("tolerance", tolerance,
            "Steady: stop at this norm of a sweep's update; 0: make max_sweeps; auto: 1e-8, of floats 5e-7", {0});
    s.value("max_sweeps", max_sweeps, "Steady: the most sweeps", {1});
    s.value("check_every", check_every,
            "Sweeps between norms, the last sweep's included; 0: a norm only where tolerance needs one at "
            "the end",
            {0});
    s.choice<Norm>("norm", norm, norms, "Of the update: largest, or root of the sum of squares");
    s.choice<SumKind>("sums", sums, stepping::sum_kind_names,
                      "Of norm l2: in any order, or the same bits on any ranks, as those of max always are");
    s.choice<SweepKernel>("kernel", kernel, kernels,
                          "The tuned kernel, or the textbook's loops over cells (plain), to compare with");
    s.choice<Stores>("stores", stores, stores_names,
                     "Non-temporal stores (streaming), ordinary ones, or which of them a trial finds faster");
    s.choice<Launch>("launch", launch, stepping::all_launch_names,
                     "On a GPU, each sweep by its own launches, many by one (graph), by one kernel of each rank "
                     "(persistent), or by trial");
    s.value("steps_per_pass", steps_per_pass,
            "Sweeps or steps made while their cells are in cache, for one exchange of as many layers of ghosts; "
            "auto: by trial",
            {1, 64});
  });
  v.section("time", "Transient only", [&](Visitor& t) {
    t.value("end", end_time, "The time to reach", {0, 1e300, true});
    t.value("step", time_step, "The time step; auto: 0.9 of the largest stable one", {0, 1e300, true});
  });
  v.section("decomposition", "How the cells are divided among the ranks", [&](Visitor& d) {
    d.value("process_grid", process_grid, "Ranks along x, y[, z]; empty: the smallest halo", {1, std::int64_t{1} << 30},
            {0, 3});
  });
  v.section("warm_up", "Before the clock starts",
            [&](Visitor& w) { w.value("sweeps", warm_up_sweeps, "Sweeps or steps that are not measured", {0}); });
  v.section("verification", "How the answer is judged", [&](Visitor& w) {
    w.value("tolerance", verification_tolerance, "Largest error that passes; auto: see docs/apps/heat.md", {0});
  });
}

void Options::resolve_sizes(const config::Deck& deck, int ranks, const grid::FreeMemory& free_memory) {
  const auto bytes = [&](const grid::Sizes& whole, const std::vector<std::int64_t>& ranks_along) {
    const grid::UniformGrid grid{.extents = whole, .lower = {}, .spacing = {}};
    return bytes_of_rank(*this, grid::largest_block(grid, ranks_along, sweeps_of_pass()));
  };
  grid::resolve_box_sizes(sizing, {"problem.cells", "cell", cells, process_grid, 0, bytes}, ranks, deck, free_memory);
}

void Options::resolve(const config::Deck& deck, int ranks, const miniapp::RunOptions& /*run*/) {
  refuse_unused(*this, deck);
  refuse_too_many_cells(*this, deck);
  resolve_domain(*this, deck);
  resolve_faces(*this, deck);
  if (equation == Equation::steady) {
    if (!tolerance) tolerance = precision == Precision::single_precision ? 5e-7 : 1e-8;
    resolve_steady(*this, deck);
  } else {
    resolve_step(*this, deck);
  }
  grid::resolve_process_grid(process_grid, "decomposition.process_grid", {"problem.cells", "cell", cells}, ranks, deck);
  if (!steps_per_pass) return;
  if (const auto refusal = pass_refusal(*this, *steps_per_pass))
    deck.fail("solver.steps_per_pass", fmt::format("is {}, but {}", *steps_per_pass, *refusal));
}

/// Several sweeps a pass need what does not change in between, and neighbours that have as many layers.
std::optional<std::string> pass_refusal(const Options& o, std::int64_t steps_per_pass) {
  if (steps_per_pass == 1) return std::nullopt;
  if (o.launch == Launch::persistent) return "solver.launch is persistent, by which a pass is one sweep; choose 1";
  const auto timed = [](const config::Expression& formula) { return config::Function(formula).uses("t"); };
  if (timed(o.source)) return "problem.source depends on time; choose 1";
  for (int face = 0; face < 2 * o.dimensions(); ++face)
    if (o.faces[face].condition != Condition::periodic && timed(o.faces[face].value))
      return fmt::format("problem.boundary.{} depends on time; choose 1", grid::face_names[face]);
  for (int axis = 0; axis < o.dimensions(); ++axis) {
    const auto parts = o.process_grid[axis], least = o.cells[axis] / parts;
    if ((parts > 1 || o.faces[2 * axis].condition == Condition::periodic) && least < steps_per_pass)
      return fmt::format("{} cells along axis {} in {} parts leave a rank with {}; choose at most that", o.cells[axis],
                         "xyz"[axis], parts, least);
  }
  return std::nullopt;
}

double bytes_of_rank(const Options& options, const grid::Block& block) {
  const double fields = grid::DeckFunction(options.source).zero() ? 2 : 3;
  return miniapp::with_scalar(options.precision, [&]<class T>(T) { return fields * grid::field_bytes<T>(block); });
}

} // namespace kontor::heat
