// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "cg/cost.hpp"
#include "cg/matrix/operator.hpp"
#include "cg/solver_options.hpp"

#include <kontor/comm/communicator.hpp>
#include <kontor/comm/phase_times.hpp>

#include <nlohmann/json.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace kontor::cg {

/// M, which is close to the inverse of the matrix, symmetric and positive definite. Each times itself as the region
/// preconditioner.
class Preconditioner {
 public:
  virtual ~Preconditioner() = default;

  /// Collective. z = M r, own values, for what compute() is given next. r and z are two vectors.
  virtual void apply(const Vector& r, const Vector& z) = 0;

  /// Local. Of an application.
  virtual Cost cost() const = 0;

  /// M's diagonal, where M has nothing else: kernels can multiply with it on the way. Null: it has.
  virtual const Vector* diagonal() const { return nullptr; }
  /// False: the matrix is known not to be positive definite. Equal on all ranks.
  virtual bool definite() const { return true; }
  /// Why it cannot be part of a graph; nothing: it can.
  virtual std::optional<std::string> graph_refusal() const { return std::nullopt; }

  /// Local. Numbers that were estimated, and by which M is another where they differ: of a checkpoint.
  virtual std::vector<double> estimates() const { return {}; }
  /// Local. M is that of a checkpoint from now on. Whether it was another before.
  virtual bool set_estimates(const std::vector<double>&) { return false; }

  /// Local. Whether applications exchange ghosts; else they mean nothing.
  virtual void exchange(bool /*exchanges*/) {}
  /// Local. Of its exchanges.
  virtual comm::PhaseTimes exchange_times() const { return {}; }
  virtual void reset_exchange_times() {}

  /// Local. What the record says of it, an object.
  virtual nlohmann::ordered_json record() const { return nlohmann::ordered_json::object(); }
};

/// What some iterations of classic with jacobi tell of a matrix.
struct Iterated {
  std::vector<std::pair<double, double>> alpha_beta; ///< of each iteration
  bool definite = true;                              ///< no p.A p was 0 or less
};
/// Collective. So many iterations for this right-hand side and guess.
using Iterate = std::function<Iterated(const Vector& rhs, const Vector& guess, std::int64_t iterations)>;

/// Collective. What the options ask for; null for `none`. Exchanges are those of the matrix's communicator. iterate()
/// is called by chebyshev, here only.
std::unique_ptr<Preconditioner> make_preconditioner(const DistributedMatrix&, const Execution&, const SolverOptions&,
                                                    const Iterate& iterate);

std::unique_ptr<Preconditioner> make_chebyshev(const DistributedMatrix&, const Execution&, std::int64_t degree,
                                               const Iterate&);
std::unique_ptr<Preconditioner> make_gauss_seidel(const DistributedMatrix&, const Execution&);

/// What this program lacks for the preconditioner gauss_seidel; empty: nothing.
std::string gauss_seidel_needs();
inline bool has_gauss_seidel() { return gauss_seidel_needs().empty(); }

/// The diagonal D of the matrix.
struct InverseDiagonal {
  Vector values;        ///< of D^-1, own rows; 0 where an entry of D is 0
  bool positive = true; ///< all entries of D are above 0, on all ranks
  /// The largest eigenvalue of D^-1 A is not above this: of all ranks' rows the largest sum |a_ij| / a_ii (S. A.
  /// Gershgorin, 1931).
  double gershgorin = 0;
};

/// Collective.
InverseDiagonal inverse_diagonal(const comm::Communicator&, const CompressedRows&);

/// The smallest and largest eigenvalue.
struct EigenvalueBounds {
  double smallest = 0;
  double largest = 0;
};

/// Local. Of the operator that a conjugate-gradient method has made some iterations with: of the tridiagonal matrix of
/// Lanczos that its alpha and beta give (Y. Saad, "Iterative methods for sparse linear systems", 2nd ed., section
/// 6.7.3), by bisection with Sturm sequences. Both lie between the operator's own. Of the first steps whose length
/// alpha is not 0; 0 if there are none.
EigenvalueBounds ritz_values(const std::vector<std::pair<double, double>>& alpha_beta);

} // namespace kontor::cg
