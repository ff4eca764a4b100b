// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "cg/check/verification.hpp"
#include "cg/matrix/matrix.hpp"
#include "cg/names.hpp"
#include "cg/problem/linear_system.hpp"
#include "cg/solver/solver.hpp"
#include "partition/coordinate_matrix.hpp"
#include "run/tests/first_ranks.hpp"

#include <kontor/comm/communicator.hpp>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

/// Systems of a few rows, known whole to every rank.
namespace kontor::cg::test {

using Values = std::vector<double>;

struct SmallSystem {
  std::vector<Values> matrix; ///< rows of all columns; 0 is not stored
  Values rhs;
  Values guess; ///< empty: 0

  std::size_t rows() const { return rhs.size(); }
};

/// Irregular, positive definite, with a diagonal that varies; rows are coupled near and far.
SmallSystem irregular(int rows);
/// Tridiagonal: 2 and -1.
SmallSystem line(int rows);
/// Of a diagonal, with ones to the right.
SmallSystem diagonal(const Values& entries);

/// The solution by elimination.
Values solution_of(const SmallSystem&);

/// The largest, in absolute value.
double difference(const Values&, const Values&);

/// Collective. Each rank has as many rows as the others, give or take one; those that read ghosts come last.
LinearSystem distribute(const comm::Communicator&, const SmallSystem&);

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

/// Local. These of the rows that a rank has, in its order, and those of all ranks by all ranks' (collective).
Vector own_of(const Partition&, const Values& all);
Values gathered(const comm::Communicator&, const Partition&, const Vector& own);

/// A small system with all that a method needs.
class Bench {
 public:
  /// Collective.
  Bench(const comm::Communicator&, LinearSystem, const SolverOptions&, bool overlap = true, bool as_on_device = false);
  Bench(const comm::Communicator&, const SmallSystem&, const SolverOptions&, bool overlap = true,
        bool as_on_device = false);

  Workspace workspace();
  const LinearSystem& system() const { return system_; }

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
Solved found_by(const Solver&, const comm::Communicator&, const Partition&);
/// Collective. Warmed up, set back, solved.
Solved solve(const comm::Communicator&, const SmallSystem&, const SolverOptions&, bool overlap = true,
             bool as_on_device = false);

/// A small system that has been solved, to be verified as often as wanted.
class SolvedOnce {
 public:
  /// Collective over the world.
  SolvedOnce(const SmallSystem&, const SolverOptions&);

  /// Collective. Of the solution, as if the solve had come to `outcome`, by this preconditioner.
  miniapp::Verification verified(Preconditioner* = nullptr);
  const Vector& solution() const { return solver_->solution(); }

  Outcome outcome;

 private:
  comm::Communicator comm_;
  Options options_;
  Bench bench_;
  std::unique_ptr<Solver> solver_;
};

/// Those of this build, all of them or without another one on other ranks.
std::vector<PreconditionerKind> preconditioners(bool without_gauss_seidel = false);

inline constexpr Method all_methods[] = {Method::classic, Method::merged, Method::pipelined};

// A matrix of a grid in two dimensions, as from a file, and the first lines of files.

/// Laplace's matrix on n x n points, plus 1, with rows numbered at random.
CoordinateMatrix shuffled_grid(std::int64_t n, bool is_symmetric, unsigned seed = 1);

/// The file of a matrix.
std::string text_of(const CoordinateMatrix&);
/// Collective over the world. A file that all ranks see; returns its path.
std::string write(const miniapp::test::Folder&, const std::string& name, const std::string& text);

/// Numbers that differ from row to row.
double number_of(std::int64_t row);

namespace header {
inline const std::string symmetric = "%%MatrixMarket matrix coordinate real symmetric\n";
inline const std::string general = "%%MatrixMarket matrix coordinate real general\n";
inline const std::string array = "%%MatrixMarket matrix array real general\n";
} // namespace header

} // namespace kontor::cg::test
