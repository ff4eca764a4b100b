// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cg/options.hpp"

#include "cg/preconditioner/preconditioner.hpp"
#include "cg/problem/memory.hpp"
#include "grid/process_grid.hpp"
#include "grid/sizing.hpp"
#include "partition/metis_partition.hpp"

#include <kontor/config/unused.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <limits>
#include <numeric>

namespace kontor::cg {
namespace {

using config::Named;
using config::Visitor;

constexpr Named<ProblemKind> kinds[]{{"fe_heat", ProblemKind::fe_heat},
                                     {"stencil", ProblemKind::stencil},
                                     {"matrix_market", ProblemKind::matrix_market}};
constexpr Named<int> stencil_sizes[]{{"7", 7}, {"27", 27}};
constexpr Named<RhsKind> rhs_kinds[]{
    {"ones", RhsKind::ones}, {"a_times_ones", RhsKind::a_times_ones}, {"file", RhsKind::file}};
constexpr Named<PartitionKind> partitions[]{{"rows", PartitionKind::rows}, {"metis", PartitionKind::metis}};
constexpr Named<Method> methods[]{
    {"classic", Method::classic}, {"merged", Method::merged}, {"pipelined", Method::pipelined}};
constexpr Named<PreconditionerKind> preconditioners[]{{"none", PreconditionerKind::none},
                                                      {"jacobi", PreconditionerKind::jacobi},
                                                      {"chebyshev", PreconditionerKind::chebyshev},
                                                      {"gauss_seidel", PreconditionerKind::gauss_seidel}};
constexpr Named<Format> formats[]{{"csr", Format::csr}, {"sell", Format::sell}, {"matrix_free", Format::matrix_free}};
constexpr config::Tagged<FaceCondition> conditions[]{{"insulated", FaceCondition::insulated, false},
                                                     {"temperature", FaceCondition::temperature, true},
                                                     {"flux", FaceCondition::flux, true}};

template <class E, std::size_t n>
std::string_view name_of(const Named<E> (&names)[n], E value) {
  return std::ranges::find(names, value, &Named<E>::value)->name;
}

constexpr std::array<std::string_view, 3> in_space{"x", "y", "z"};

void describe(Visitor& v, FeHeatOptions& o) {
  v.value("elements", o.elements, "Hexahedra along x, y and z", {.min = 1, .max = std::int64_t{1} << 40}, {3, 3});
  v.section("domain", "The box", [&](Visitor& d) {
    d.value("lower", o.lower, "Its lower corner", {}, {3, 3});
    d.value("upper", o.upper, "Its upper corner", {}, {3, 3});
  });
  v.value("conductivity", o.conductivity, in_space, "Conductivity; above 0");
  v.value("source", o.source, in_space, "Heat source");
  v.section("boundary", "Conditions on the faces", [&](Visitor& b) {
    grid::describe_faces<FaceCondition>(b, o.faces, conditions, in_space,
                                        "Temperature, flux into the box, or insulated");
  });
  v.value("exact", o.exact, in_space, "The exact solution, to compare with");
}

void describe(Visitor& v, StencilOptions& o) {
  v.value("points", o.points, "Points along x, y and z", {.min = 1, .max = std::int64_t{1} << 40}, {3, 3});
  v.choice<int>("size", o.size, stencil_sizes,
                "Points of the stencil: 7 (6 and -1) or 27 (26 and -1), which is HPCG's");
  v.value("exact", o.exact, in_space, "The solution, of which the right-hand side is made");
}

void describe(Visitor& v, MatrixMarketOptions& o) {
  v.value("file", o.file, "Coordinate file of a real matrix");
  v.choice<RhsKind>("rhs", o.rhs, rhs_kinds,
                    "Right-hand side: ones, A times ones (the solution is ones), or from a file");
  v.value("rhs_file", o.rhs_file, "Array, coordinate or plain file of the right-hand side");
  v.value("initial_file", o.initial_file, "Such a file of the guess; empty: 0");
  v.choice<PartitionKind>("partition", o.partition, partitions, "Which rank has which rows");
}

void describe(Visitor& v, SolverOptions& o) {
  v.choice<Method>("method", o.method, methods, "Variant of the conjugate-gradient method");
  v.value("replace_every", o.replace_every, "pipelined: iterations between replacements of the residual; 0: never",
          {.min = 0});
  v.choice<PreconditionerKind>("preconditioner", o.preconditioner, preconditioners, "Preconditioner");
  v.value("chebyshev_degree", o.chebyshev_degree, "Degree of the polynomial", {.min = 1, .max = 100});
  v.value("tolerance", o.tolerance,
          "Of the residual relative to the right-hand side; 0: exactly max_iterations iterations",
          {.min = 0, .max = 1});
  v.value("max_iterations", o.max_iterations, "The most iterations", {.min = 1, .max = 1000000000});
  v.value("stagnation", o.stagnation, "Iterations without a smaller residual after which it is given up; 0: never",
          {.min = 0});
  v.choice<Format>("format", o.format, formats, "Format of the matrix");
  v.choice<SumKind>("sums", o.sums, stepping::sum_kind_names,
                    "Sums over all rows: in any order, or the same bits on any ranks");
  v.choice<stepping::Launch>("launch", o.launch, stepping::all_launch_names,
                             "On a GPU, each iteration by its own launches, many by one (graph), by one kernel of each "
                             "rank (persistent; not classic), or by trial");
}

void refuse_unused(const Options& o, const config::Deck& deck) {
  const config::UnusedKeys unused(deck, o);
  for (const auto& kind : kinds)
    unused.refuse_unless(o.kind == kind.value, fmt::format("problem.{}", kind.name),
                         fmt::format("problem.kind must be {}", kind.name));
  for (const auto* key : {"problem.local", "problem.memory_share"})
    unused.refuse_unless(o.kind != ProblemKind::matrix_market, key, "problem.kind must be fe_heat or stencil");
  unused.refuse_unless(o.solver.method == Method::pipelined, "solver.replace_every", "solver.method must be pipelined");
  unused.refuse_unless(o.solver.preconditioner == PreconditionerKind::chebyshev, "solver.chebyshev_degree",
                       "solver.preconditioner must be chebyshev");
}

void resolve_format(const Options& o, const config::Deck& deck) {
  const auto& solver = o.solver;
  if (solver.format == Format::matrix_free && o.kind != ProblemKind::stencil)
    deck.fail("solver.format", "matrix_free multiplies with a stencil, which problem.kind: stencil has; csr "
                               "and sell take any matrix");
}

void resolve_preconditioner(const SolverOptions& o, const config::Deck& deck) {
  if (o.preconditioner != PreconditionerKind::gauss_seidel) return;
  if (const auto needs = gauss_seidel_needs(); !needs.empty())
    deck.fail("solver.preconditioner",
              fmt::format("is gauss_seidel, which needs {}, and this program was built without; install it "
                          "(libtrilinos-kokkos-kernels-dev on Debian) and build again, or choose jacobi or "
                          "chebyshev",
                          needs));
  if (o.sums == SumKind::reproducible)
    deck.fail("solver.preconditioner",
              "is gauss_seidel, which depends on which rank has which rows, so solver.sums: reproducible "
              "would not give the same bits on any ranks; choose none, jacobi or chebyshev, or sums: any_order");
}

/// Indices and sizes in bytes must fit in 64 bits, and those of a rank in 32.
void refuse_too_many_points(const std::vector<std::int64_t>& points, std::string_view key, const config::Deck& deck) {
  constexpr double most = 1e15;
  const double all = std::accumulate(points.begin(), points.end(), 1.0, std::multiplies<>());
  if (all > most)
    deck.fail(key, fmt::format("gives {:.3g} points; at most {:.0e} are possible", all, most), "E-DECK-RANGE");
}

void refuse_too_many_rows_a_rank(const std::vector<std::int64_t>& points, std::string_view key,
                                 const std::vector<std::int64_t>& process_grid, const config::Deck& deck) {
  std::int64_t rows = 1;
  for (std::size_t axis = 0; axis < points.size(); ++axis)
    rows *= (points[axis] + process_grid[axis] - 1) / process_grid[axis] + 2; // and the layer around
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  if (rows > most)
    deck.fail(key,
              fmt::format("gives a rank {} points with those around them; at most {} are possible, so "
                          "take {} times as many ranks",
                          rows, most, rows / most + 1),
              "E-DECK-RANKS");
}

std::string_view key_of_sizes(ProblemKind kind) {
  return kind == ProblemKind::fe_heat ? "problem.fe_heat.elements" : "problem.stencil.points";
}

void resolve_fe_heat(const Options& all, int ranks, const config::Deck& deck) {
  const auto& o = all.fe_heat;
  for (std::size_t axis = 0; axis < 3; ++axis)
    if (!(o.lower[axis] < o.upper[axis]))
      deck.fail("problem.fe_heat.domain.upper",
                fmt::format("is [{}], and must be above problem.fe_heat.domain.lower, which is [{}]",
                            fmt::join(o.upper, ", "), fmt::join(o.lower, ", ")));
  if (!grid::any_face(o.faces, 3, FaceCondition::temperature))
    deck.fail("problem.fe_heat.boundary",
              "has no face with a temperature, so a solution is fixed up to a constant only, and the matrix is "
              "singular; give at least one face a temperature");
  if (all.verification_tolerance && !o.exact)
    deck.fail("verification.tolerance",
              "is given, but no solution is known to compare with; give problem.fe_heat.exact, or leave "
              "the tolerance out");
  const auto points = o.points();
  if (all.process_grid.empty() && grid::smallest_surface_grid(ranks, points).empty())
    deck.fail(key_of_sizes(all.kind),
              fmt::format("[{}] have {} points, which cannot be divided among {} ranks so that each has "
                          "one; use fewer ranks or more elements",
                          fmt::join(o.elements, ", "), fmt::join(points, " x "), ranks),
              "E-DECK-RANKS");
}

void resolve_matrix_market(const Options& all, const config::Deck& deck) {
  const auto& o = all.matrix_market;
  const std::string section = "problem.matrix_market.";
  if (o.file.path.empty()) deck.fail(section + "file", "is empty; it must name a Matrix Market file", "E-DECK-KEY");
  if (o.rhs == RhsKind::file && o.rhs_file.path.empty())
    deck.fail(section + "rhs_file", "is empty, but problem.matrix_market.rhs is file; it must name a file of a vector",
              "E-DECK-KEY");
  if (o.rhs != RhsKind::file && !o.rhs_file.path.empty())
    deck.fail(section + "rhs_file", "is given, but not used: problem.matrix_market.rhs must be file for that");
  if (o.partition == PartitionKind::metis && !has_metis())
    deck.fail(section + "partition", fmt::format("metis {}", *metis_refusal(0)));
  if (all.initial.text() != "0")
    deck.fail("problem.initial", "is for points of a box; the guess for a matrix from a file is "
                                 "problem.matrix_market.initial_file");
  if (!all.process_grid.empty())
    deck.fail("decomposition.process_grid", "is for points of a box; a matrix from a file is divided by "
                                            "problem.matrix_market.partition");
}

} // namespace

nlohmann::ordered_json words_of(const SolverOptions& o) {
  return {{"method", name_of(methods, o.method.value)},
          {"preconditioner", name_of(preconditioners, o.preconditioner)},
          {"format", name_of(formats, o.format)},
          {"sums", o.sums == SumKind::any_order ? "any_order" : "reproducible"}};
}

std::vector<std::string> Options::restart_may_change() {
  return {"solver.tolerance", "solver.max_iterations",          "solver.stagnation", "solver.launch", "decomposition.",
          "verification.",    "problem.matrix_market.partition"};
}

grid::UniformGrid Options::points() const {
  if (kind == ProblemKind::stencil)
    return {.centering = grid::Centering::points, .extents = stencil.points, .lower = {}, .spacing = {}};
  return {.centering = grid::Centering::points,
          .extents = fe_heat.points(),
          .lower = fe_heat.lower,
          .spacing = {fe_heat.spacing(0), fe_heat.spacing(1), fe_heat.spacing(2)}};
}

void Options::describe(Visitor& v) {
  v.section("problem", "The system A x = b", [&](Visitor& p) {
    p.choice<ProblemKind>("kind", kind, kinds, "Where the matrix comes from");
    sizing.describe(p, "points or elements");
    p.section("fe_heat", "Steady heat conduction by finite elements", [&](Visitor& s) { cg::describe(s, fe_heat); });
    p.section("stencil", "A stencil's matrix on a box of points", [&](Visitor& s) { cg::describe(s, stencil); });
    p.section("matrix_market", "A matrix from a file", [&](Visitor& s) { cg::describe(s, matrix_market); });
    p.value("initial", initial, in_space, "Guess that the iteration starts from, for points of a box");
  });
  v.section("solver", "How it is solved", [&](Visitor& s) { cg::describe(s, solver); });
  v.section("decomposition", "Parts of the ranks", [&](Visitor& s) {
    s.value("process_grid", process_grid, "Ranks along x, y and z; empty: the smallest surface", {.min = 1}, {0, 3});
  });
  v.section("verification", "How the answer is judged", [&](Visitor& s) {
    s.value("tolerance", verification_tolerance,
            "Largest error relative to the known solution, as root mean square; auto: see docs/apps/cg.md", {.min = 0});
  });
}

void Options::resolve_sizes(const config::Deck& deck, int ranks, const grid::FreeMemory& free_memory) {
  if (kind == ProblemKind::matrix_market) return;
  const bool elements = kind == ProblemKind::fe_heat;
  const auto sizes_of = [elements](Options& o) -> grid::Sizes& {
    return elements ? o.fe_heat.elements : o.stencil.points;
  };
  const auto bytes = [&](const grid::Sizes& whole, const std::vector<std::int64_t>& ranks_along) {
    auto sized = *this;
    sizes_of(sized) = whole;
    sized.process_grid = ranks_along;
    return bytes_of_box(sized, grid::largest_block(sized.points(), ranks_along));
  };
  grid::resolve_box_sizes(
      sizing,
      {key_of_sizes(kind), elements ? "element" : "point", sizes_of(*this), process_grid, elements ? 1 : 0, bytes},
      ranks, deck, free_memory);
}

void Options::resolve(const config::Deck& deck, int ranks, const miniapp::RunOptions& run) {
  run.refuse_series(deck, "a solve");
  refuse_unused(*this, deck);
  resolve_format(*this, deck);
  resolve_preconditioner(solver, deck);
  if (kind == ProblemKind::matrix_market) return resolve_matrix_market(*this, deck);
  const auto points = this->points().extents;
  const auto key = key_of_sizes(kind);
  refuse_too_many_points(points, key, deck);
  if (kind == ProblemKind::fe_heat) resolve_fe_heat(*this, ranks, deck);
  grid::resolve_process_grid(process_grid, "decomposition.process_grid", {key, "point", points}, ranks, deck);
  refuse_too_many_rows_a_rank(points, key, process_grid, deck);
}

} // namespace kontor::cg
