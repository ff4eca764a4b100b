// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "small_system.hpp"

#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

namespace kontor::cg::test {
namespace {

struct Share {
  GlobalIndex begin, end;
};
Share share(GlobalIndex rows, int rank, int ranks) { return {rows * rank / ranks, rows * (rank + 1) / ranks}; }

} // namespace

SmallSystem irregular(int rows) {
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

SmallSystem line(int rows) {
  SmallSystem s{std::vector<Values>(rows, Values(rows)), Values(rows, 1), {}};
  for (int i = 0; i < rows; ++i) {
    s.matrix[i][i] = 2;
    if (i > 0) s.matrix[i][i - 1] = s.matrix[i - 1][i] = -1;
  }
  return s;
}

SmallSystem diagonal(const Values& entries) {
  const auto rows = entries.size();
  SmallSystem s{std::vector<Values>(rows, Values(rows)), Values(rows, 1), {}};
  for (std::size_t i = 0; i < rows; ++i) s.matrix[i][i] = entries[i];
  return s;
}

Values solution_of(const SmallSystem& s) {
  auto a = s.matrix;
  auto x = s.rhs;
  const auto n = s.rows();
  for (std::size_t k = 0; k < n; ++k) // positive definite: no pivots
    for (std::size_t i = k + 1; i < n; ++i) {
      const double factor = a[i][k] / a[k][k];
      for (std::size_t j = k; j < n; ++j) a[i][j] -= factor * a[k][j];
      x[i] -= factor * x[k];
    }
  for (std::size_t i = n; i-- > 0;) {
    for (std::size_t j = i + 1; j < n; ++j) x[i] -= a[i][j] * x[j];
    x[i] /= a[i][i];
  }
  return x;
}

double difference(const Values& a, const Values& b) {
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) largest = std::max(largest, std::abs(a[i] - b[i]));
  return largest;
}

LinearSystem distribute(const comm::Communicator& comm, const SmallSystem& s) {
  const auto rows = static_cast<GlobalIndex>(s.rows());
  const auto mine = share(rows, comm.rank(), comm.size());
  const auto owner = [&](GlobalIndex row) {
    int rank = 0;
    while (row >= share(rows, rank, comm.size()).end) ++rank;
    return rank;
  };
  std::vector<GlobalIndex> interior, boundary;
  std::map<GlobalIndex, LocalIndex> local; // of ghosts at first
  std::vector<GhostRow> ghosts;
  for (auto i = mine.begin; i < mine.end; ++i) {
    bool reads = false;
    for (GlobalIndex j = 0; j < rows; ++j) {
      if (s.matrix[i][j] == 0 || (j >= mine.begin && j < mine.end)) continue;
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

Vector own_of(const Partition& partition, const Values& all) {
  auto rows = on_host(partition.global);
  rows.resize(static_cast<std::size_t>(partition.own));
  Values own;
  for (const auto row : rows) own.push_back(all[static_cast<std::size_t>(row)]);
  return to_view(own);
}

Values gathered(const comm::Communicator& comm, const Partition& partition, const Vector& own) {
  const auto rows = on_host(partition.global);
  const auto values = on_host(own);
  Values all(static_cast<std::size_t>(partition.rows));
  for (std::size_t i = 0; i < values.size(); ++i) all[static_cast<std::size_t>(rows[i])] = values[i];
  MPI_Allreduce(MPI_IN_PLACE, all.data(), static_cast<int>(all.size()), MPI_DOUBLE, MPI_SUM, comm.native());
  return all;
}

Bench::Bench(const comm::Communicator& comm, const SmallSystem& system, const SolverOptions& options, bool overlap,
             bool as_on_device)
    : Bench(comm, distribute(comm, system), options, overlap, as_on_device) {}

Bench::Bench(const comm::Communicator& comm, LinearSystem system, const SolverOptions& options, bool overlap,
             bool as_on_device)
    : comm_(&comm), options_(options), overlap_(overlap), as_on_device_(as_on_device), system_(std::move(system)),
      matrix_(make_csr(system_.matrix, system_.partition.interior)), streams_(overlap), timers_("cg") {}

Workspace Bench::workspace() {
  return {*comm_,   system_.partition, system_.matrix, *matrix_, system_.rhs,  system_.initial,
          options_, overlap_,          streams_,       timers_,  as_on_device_};
}

Solved found_by(const Solver& solver, const comm::Communicator& comm, const Partition& partition) {
  return {solver.outcome(), gathered(comm, partition, solver.solution()), solver.history(), solver.record()};
}

Solved solve(const comm::Communicator& comm, const SmallSystem& system, const SolverOptions& options, bool overlap,
             bool as_on_device) {
  Bench bench(comm, system, options, overlap, as_on_device);
  const auto solver = make_solver(bench.workspace());
  solver->warm_up();
  solver->reset();
  solve(*solver);
  return found_by(*solver, comm, bench.system().partition);
}

SolvedOnce::SolvedOnce(const SmallSystem& system, const SolverOptions& options)
    : comm_(MPI_COMM_WORLD), bench_(comm_, system, options), solver_(make_solver(bench_.workspace())) {
  options_.solver = options;
  solver_->reset();
  outcome = solve(*solver_);
}

miniapp::Verification SolvedOnce::verified(Preconditioner* preconditioner) {
  const auto work = bench_.workspace();
  return verify(comm_, bench_.system(), {}, work.matrix, work.streams.compute(), options_,
                {outcome, solver_->solution(), solver_->coefficients()}, preconditioner);
}

std::vector<PreconditionerKind> preconditioners(bool without_gauss_seidel) {
  std::vector<PreconditionerKind> kinds{PreconditionerKind::none, PreconditionerKind::jacobi,
                                        PreconditionerKind::chebyshev};
  if (has_gauss_seidel() && !without_gauss_seidel) kinds.push_back(PreconditionerKind::gauss_seidel);
  return kinds;
}

CoordinateMatrix shuffled_grid(std::int64_t n, bool is_symmetric, unsigned seed) {
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

std::string text_of(const CoordinateMatrix& matrix) {
  auto text = fmt::format("{}{} {} {}\n", matrix.symmetric ? header::symmetric : header::general, matrix.rows,
                          matrix.rows, matrix.entries.size());
  for (const auto& e : matrix.entries) text += fmt::format("{} {} {}\n", e.row + 1, e.column + 1, e.value);
  return text;
}

std::string write(const miniapp::test::Folder& folder, const std::string& name, const std::string& text) {
  if (miniapp::test::world_rank() == 0) std::ofstream(folder / name, std::ios::binary) << text;
  MPI_Barrier(MPI_COMM_WORLD);
  return folder / name;
}

double number_of(std::int64_t row) { return std::sin(static_cast<double>(3 * row + 1)); }

} // namespace kontor::cg::test
