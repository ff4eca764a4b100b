// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "cg/cg.hpp"
#include "cg/check/verification.hpp"
#include "cg/matrix/matrix.hpp"
#include "cg/names.hpp"
#include "cg/preconditioner/preconditioner.hpp"
#include "cg/problem/linear_system.hpp"
#include "cg/solver/solver.hpp"
#include "partition/coordinate_matrix.hpp"
#include "run/tests/first_ranks.hpp"
#include "run/tests/loan.hpp"
#include "run/tests/refusal.hpp"

#include <kontor/comm/communicator.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <mpi.h>

#include <fstream>
#include <limits>
#include <map>
#include <numeric>
#include <random>

/// Runs of cg, and systems of a few rows, known whole to every rank; with the headers that most tests of this folder
/// need.
namespace kontor::cg::test {

using namespace miniapp::test;

/// The message with which the options of a deck are refused on so many ranks; empty if they are not.
inline std::string refusal_of(const std::string& text, int ranks = 1) {
  return error_of([&] {
    const auto deck = config::Deck::parse(text, "deck.yaml");
    Options options;
    deck.read([&](config::Visitor& v) { options.describe(v); });
    options.resolve(deck, ranks);
  });
}

/// cg with what a run lends to it.
struct App : miniapp::test::Loan {
  /// Collective over the ranks of `comm`.
  explicit App(const Options& options, const comm::Communicator& comm, bool overlap = true)
      : Loan("cg", comm.share()), cg(options, context(overlap)) {}

  /// Collective. A repeat from the beginning.
  void run() {
    cg.reset();
    cg.run();
  }
  /// Collective. The same, and its verdict.
  miniapp::Verification verified() {
    run();
    return cg.verify();
  }

  Cg cg;
};

/// A problem whose sums are reproducible; of a box.
inline Options reproducible(ProblemKind kind, Method method, PreconditionerKind preconditioner) {
  Options options;
  options.kind = kind;
  options.stencil.points = {11, 9, 13};
  options.stencil.exact = "sin(3*x)+y*z";
  options.fe_heat.elements = {7, 8, 6};
  options.fe_heat.conductivity = "1+x*y";
  options.fe_heat.source = "exp(x)";
  options.fe_heat.faces[0].condition = FaceCondition::temperature;
  options.solver = {.method = method,
                    .replace_every = 7,
                    .preconditioner = preconditioner,
                    .tolerance = 1e-9,
                    .sums = SumKind::reproducible};
  return options;
}

using Values = std::vector<double>;

struct SmallSystem {
  std::vector<Values> matrix; ///< rows of all columns; 0 is not stored
  Values rhs;
  Values guess; ///< empty: 0

  std::size_t rows() const { return rhs.size(); }
};

/// Irregular, positive definite, with a diagonal that varies; rows are coupled near and far.
inline SmallSystem irregular(int rows) {
  SmallSystem s{std::vector<Values>(rows, Values(rows)), Values(rows), Values(rows)};
  for (int i = 0; i < rows; ++i) {
    for (const int j : {i + 1, i + 2, (i * 7 + 3) % rows, (i * 13 + 5) % rows})
      if (j < rows && j != i) s.matrix[i][j] = s.matrix[j][i] = -1 - 0.1 * ((i + j) % 5);
    s.rhs[i] = std::sin(i + 1.0);
    s.guess[i] = 0.1 * std::cos(3.0 * i);
  }
  for (int i = 0; i < rows; ++i) {
    double sum = 0;
    for (const double value : s.matrix[i]) sum += std::abs(value);
    s.matrix[i][i] = sum + 0.02 * (1 + i % 7);
  }
  for (int i = 0; i < rows; ++i) // of another scale each
    for (int j = 0; j < rows; ++j) s.matrix[i][j] *= (1 + i % 3) * (1 + j % 3);
  return s;
}

/// Of a diagonal, with ones to the right.
inline SmallSystem diagonal(const Values& entries) {
  const auto rows = entries.size();
  SmallSystem s{std::vector<Values>(rows, Values(rows)), Values(rows, 1), {}};
  for (std::size_t i = 0; i < rows; ++i) s.matrix[i][i] = entries[i];
  return s;
}

/// Tridiagonal: 2 and -1.
inline SmallSystem line(int rows) {
  auto s = diagonal(Values(rows, 2));
  for (int i = 1; i < rows; ++i) s.matrix[i][i - 1] = s.matrix[i - 1][i] = -1;
  return s;
}

inline double dot(const Values& a, const Values& b) { return std::inner_product(a.begin(), a.end(), b.begin(), 0.0); }

/// The largest of a linear `product`, in absolute value, by so many iterations from x.
template <class Product>
double eigenvalue_of(const Product& product, Values x, int iterations) {
  double norm = 0;
  for (int iteration = 0; iteration < iterations; ++iteration) {
    const Values y = product(x);
    norm = std::sqrt(dot(y, y) / dot(x, x));
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = y[i] / norm;
  }
  return norm;
}

/// Local. In the memory of kernels, and back.
template <class T>
Kokkos::View<T*> to_view(const std::vector<T>& values) {
  const Kokkos::View<T*> view("test/values", values.size());
  const auto host = Kokkos::create_mirror_view(view);
  std::copy(values.begin(), values.end(), host.data());
  Kokkos::deep_copy(view, host);
  return view;
}
template <class T>
std::vector<T> on_host(const Kokkos::View<T*>& view) {
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), view);
  return {host.data(), host.data() + host.extent(0)};
}

/// A matrix that the host reads.
struct HostRows {
  explicit HostRows(const CompressedRows& a)
      : offsets(on_host(a.offsets)), columns(on_host(a.columns)), values(on_host(a.values)) {}
  LocalIndex rows() const { return static_cast<LocalIndex>(offsets.size()) - 1; }

  std::vector<std::int64_t> offsets;
  std::vector<LocalIndex> columns;
  Values values;
};

/// By a loop over the rows.
inline Values plain_product(const HostRows& a, const Values& x) {
  Values y;
  for (LocalIndex row = 0; row < a.rows(); ++row) {
    double sum = 0;
    for (auto e = a.offsets[row]; e < a.offsets[row + 1]; ++e) sum += a.values[e] * x[a.columns[e]];
    y.push_back(sum);
  }
  return y;
}

/// Local. These of the rows that a rank has, in its order, and those of all ranks by all ranks' (collective).
inline Vector own_of(const Partition& partition, const Values& all) {
  auto rows = on_host(partition.global);
  rows.resize(static_cast<std::size_t>(partition.own));
  Values own;
  for (const auto row : rows) own.push_back(all[static_cast<std::size_t>(row)]);
  return to_view(own);
}

inline Values gathered(const comm::Communicator& comm, const Partition& partition, const Vector& own) {
  const auto rows = on_host(partition.global);
  const auto values = on_host(own);
  Values all(static_cast<std::size_t>(partition.rows));
  for (std::size_t i = 0; i < values.size(); ++i) all[static_cast<std::size_t>(rows[i])] = values[i];
  MPI_Allreduce(MPI_IN_PLACE, all.data(), static_cast<int>(all.size()), MPI_DOUBLE, MPI_SUM, comm.native());
  return all;
}

/// Collective. Each rank has as many rows as the others, give or take one; those that read ghosts come last.
inline LinearSystem distribute(const comm::Communicator& comm, const SmallSystem& s) {
  const auto rows = static_cast<GlobalIndex>(s.rows());
  const auto end_of = [&](int rank) { return rows * (rank + 1) / comm.size(); };
  const auto begin = rows * comm.rank() / comm.size(), end = end_of(comm.rank());
  const auto owner = [&](GlobalIndex row) {
    int rank = 0;
    while (row >= end_of(rank)) ++rank;
    return rank;
  };
  std::vector<GlobalIndex> interior, boundary;
  std::map<GlobalIndex, LocalIndex> local; // of ghosts at first
  std::vector<GhostRow> ghosts;
  for (auto i = begin; i < end; ++i) {
    bool reads = false;
    for (GlobalIndex j = 0; j < rows; ++j) {
      if (s.matrix[i][j] == 0 || (j >= begin && j < end)) continue;
      reads = true;
      if (local.emplace(j, 0).second) ghosts.push_back({owner(j), j});
    }
    (reads ? boundary : interior).push_back(i);
  }
  auto own = interior;
  own.insert(own.end(), boundary.begin(), boundary.end());
  LinearSystem system{.partition = make_partition(comm, rows, own, std::move(ghosts))};
  system.partition.interior = static_cast<LocalIndex>(interior.size());
  const auto global = on_host(system.partition.global);
  for (std::size_t i = 0; i < global.size(); ++i) local[global[i]] = static_cast<LocalIndex>(i);

  std::vector<std::int64_t> offsets{0};
  std::vector<LocalIndex> columns;
  Values values;
  for (const auto i : own) {
    for (GlobalIndex j = 0; j < rows; ++j) {
      if (s.matrix[i][j] == 0) continue;
      columns.push_back(local.at(j));
      values.push_back(s.matrix[i][j]);
    }
    offsets.push_back(static_cast<std::int64_t>(columns.size()));
  }
  system.matrix = {to_view(offsets), to_view(columns), to_view(values)};
  system.rhs = own_of(system.partition, s.rhs);
  system.initial = own_of(system.partition, s.guess.empty() ? Values(s.rows()) : s.guess);
  return system;
}

/// A small system with all that a method needs.
class Bench {
 public:
  /// Collective.
  Bench(const comm::Communicator& comm, LinearSystem system, const SolverOptions& options, bool overlap = true,
        bool as_on_device = false)
      : comm_(&comm), options_(options), overlap_(overlap), as_on_device_(as_on_device), system_(std::move(system)),
        matrix_(options.format == Format::sell ? make_sell(system_.matrix, system_.partition.interior,
                                                           system_.partition.own + system_.partition.ghosts)
                                               : make_csr(system_.matrix, system_.partition.interior)),
        streams_(overlap), timers_("cg") {}
  Bench(const comm::Communicator& comm, const SmallSystem& system, const SolverOptions& options, bool overlap = true,
        bool as_on_device = false)
      : Bench(comm, distribute(comm, system), options, overlap, as_on_device) {}

  Workspace workspace() {
    return {{*comm_, system_.partition, system_.matrix, *matrix_},
            {streams_, timers_, overlap_, as_on_device_},
            options_,
            system_.rhs,
            system_.initial};
  }
  const LinearSystem& system() const { return system_; }
  /// Collective. Warmed up and set back.
  std::unique_ptr<Solver> solver() {
    auto made = make_solver(workspace());
    made->warm_up();
    made->reset();
    return made;
  }

 private:
  const comm::Communicator* comm_;
  SolverOptions options_;
  bool overlap_, as_on_device_;
  LinearSystem system_;
  std::unique_ptr<Matrix> matrix_;
  stepping::Streams<Space> streams_;
  miniapp::Timers timers_;
};

struct Solved {
  Outcome outcome;
  Values x; ///< of all rows
  std::vector<double> history;
  nlohmann::ordered_json record;
};
/// Collective, after a solve.
inline Solved found_by(const Solver& solver, const comm::Communicator& comm, const Partition& partition) {
  auto record = solver.record();
  record.update(solver.launches().record());
  return {solver.outcome(), gathered(comm, partition, solver.solution()), solver.history(), std::move(record)};
}

/// Collective over the world. Warmed up, set back, solved.
inline Solved solve(const SmallSystem& system, const SolverOptions& options, bool overlap = true,
                    bool as_on_device = false) {
  Bench bench(world(), system, options, overlap, as_on_device);
  const auto solver = bench.solver();
  solve(*solver);
  return found_by(*solver, world(), bench.system().partition);
}

/// A small system that has been solved, to be verified as often as wanted.
class SolvedOnce {
 public:
  /// Collective over the world.
  SolvedOnce(const SmallSystem& system, const SolverOptions& options)
      : comm_(MPI_COMM_WORLD), bench_(comm_, system, options), solver_(bench_.solver()) {
    options_.solver = options;
    outcome = solve(*solver_);
  }

  /// Collective. Of the solution, as if the solve had come to `outcome`, by this preconditioner.
  miniapp::Verification verified(Preconditioner* preconditioner = nullptr) {
    const auto work = bench_.workspace();
    return verify(comm_, bench_.system(), {}, {comm_, work.partition, {}}, work.matrix, work.streams.compute(),
                  options_, {outcome, solver_->solution(), solver_->coefficients()}, preconditioner);
  }
  const Solver& solver() const { return *solver_; }

  Outcome outcome;

 private:
  comm::Communicator comm_;
  Options options_;
  Bench bench_;
  std::unique_ptr<Solver> solver_;
};

/// Those of this build, all of them or without another one on other ranks.
inline std::vector<PreconditionerKind> preconditioners(bool without_gauss_seidel = false) {
  std::vector<PreconditionerKind> kinds{PreconditionerKind::none, PreconditionerKind::jacobi,
                                        PreconditionerKind::chebyshev};
  if (has_gauss_seidel() && !without_gauss_seidel) kinds.push_back(PreconditionerKind::gauss_seidel);
  return kinds;
}

inline constexpr Method all_methods[] = {Method::classic, Method::merged, Method::pipelined};

// A matrix of a grid in two dimensions, as from a file, and the first lines of files.

/// Laplace's matrix on n x n points, plus 1, with rows numbered at random.
inline CoordinateMatrix shuffled_grid(std::int64_t n, bool is_symmetric, unsigned seed = 1) {
  std::vector<std::int64_t> number(n * n);
  std::iota(number.begin(), number.end(), 0);
  std::mt19937 random(seed);
  for (auto i = number.size(); i-- > 1;) std::swap(number[i], number[random() % (i + 1)]);
  CoordinateMatrix matrix{.source = "made.mtx", .rows = n * n, .symmetric = is_symmetric, .entries = {}};
  const auto add = [&](std::int64_t a, std::int64_t b, double value) {
    a = number[a];
    b = number[b];
    if (a == b || !is_symmetric) matrix.entries.push_back({a, b, value, 1});
    if (a != b && !is_symmetric) matrix.entries.push_back({b, a, value, 1});
    if (a != b && is_symmetric) matrix.entries.push_back({std::max(a, b), std::min(a, b), value, 1});
  };
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = 0; i < n; ++i) {
      const auto point = i + n * j;
      add(point, point, 5 + 0.1 * std::sin(static_cast<double>(point)));
      if (i > 0) add(point, point - 1, -1 + 0.01 * std::cos(static_cast<double>(point)));
      if (j > 0) add(point, point - n, -1 + 0.01 * std::sin(static_cast<double>(point)));
    }
  sort_entries(matrix);
  require_symmetric_with_positive_diagonal(matrix);
  return matrix;
}

namespace header {
inline const std::string symmetric = "%%MatrixMarket matrix coordinate real symmetric\n";
inline const std::string general = "%%MatrixMarket matrix coordinate real general\n";
inline const std::string array = "%%MatrixMarket matrix array real general\n";
} // namespace header

/// The file of a matrix.
inline std::string text_of(const CoordinateMatrix& matrix) {
  auto text = fmt::format("{}{} {} {}\n", matrix.symmetric ? header::symmetric : header::general, matrix.rows,
                          matrix.rows, matrix.entries.size());
  for (const auto& e : matrix.entries) text += fmt::format("{} {} {}\n", e.row + 1, e.column + 1, e.value);
  return text;
}

/// Collective over the world. A file that all ranks see; returns its path.
inline std::string write(const miniapp::test::Folder& folder, const std::string& name, const std::string& text) {
  if (miniapp::test::world_rank() == 0) std::ofstream(folder / name, std::ios::binary) << text;
  MPI_Barrier(MPI_COMM_WORLD);
  return folder / name;
}

/// Numbers that differ from row to row.
inline double number_of(std::int64_t row) { return std::sin(static_cast<double>(3 * row + 1)); }

} // namespace kontor::cg::test
