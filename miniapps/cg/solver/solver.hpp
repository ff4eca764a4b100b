// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "cg/ghosted_vector.hpp"
#include "cg/matrix/matrix.hpp"
#include "cg/options.hpp"
#include "cg/partition.hpp"
#include "run/mini_app.hpp"
#include "stepping/streams.hpp"

#include <kontor/comm/communicator.hpp>

#include <memory>
#include <string_view>
#include <vector>

namespace kontor::cg {

/// Why an iteration ended.
enum class Ending {
  converged,      ///< the residual has reached the tolerance
  all_iterations, ///< as many as were asked for, with tolerance 0
  limit,          ///< max_iterations, short of the tolerance
  indefinite,     ///< p.A p <= 0 or r.z < 0: the matrix or the preconditioner is not positive definite
  not_finite,     ///< a number overflowed, or is not a number
};
std::string_view words(Ending);

struct Outcome {
  Ending ending = Ending::limit;
  std::int64_t iterations = 0;
  double residual = 0; ///< the recurrence's, beside the right-hand side
};

/// What a method works with; outlives it.
struct Workspace {
  const comm::Communicator& comm;
  const Partition& partition;
  const Matrix& matrix;
  const Vector& rhs;
  const Vector& initial;
  const SolverOptions& options;
  bool overlap = true;
  stepping::Streams<Space>& streams;
  miniapp::Timers& timers;
  miniapp::Progress& progress;
};

/// A conjugate-gradient method for one system.
class Solver {
 public:
  virtual ~Solver() = default;
  /// Local. The guess again.
  virtual void reset() = 0;
  /// Collective; waits for the device. The same number of iterations and the same outcome on all ranks.
  virtual Outcome solve() = 0;
  /// The solution, own values.
  virtual const Vector& solution() const = 0;
  /// Relative residuals of the last solve() by the recurrence, from iteration 0 on.
  virtual const std::vector<double>& history() const = 0;
  /// The exchange of what the matrix is multiplied with.
  virtual const comm::Exchange<Vector>& exchange() const = 0;
  /// Local. Phases of exchanges since the last reset().
  virtual comm::PhaseTimes exchange_times() const = 0;
};

/// Collective.
std::unique_ptr<Solver> make_classic(const Workspace&);
std::unique_ptr<Solver> make_solver(const Workspace&);

} // namespace kontor::cg
