// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "cg/names.hpp"
#include "cg/preconditioner/preconditioner.hpp"
#include "cg/solver/residual_log.hpp"
#include "cg/solver/workspace.hpp"
#include "stepping/global_dots.hpp"
#include "stepping/row_sums.hpp"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace kontor::cg {

/// What methods have in common: the system, the solution, and what kernels know of an iteration.
struct CgState {
  /// Collective. `label` is that of the vector that the matrix is multiplied with, for which `own_and_ghosts` has room
  /// unless it is empty. Without a preconditioner.
  CgState(const Workspace&, const std::string& label, const Vector& own_and_ghosts);

  Workspace work;
  GhostedVector ghosted;                         ///< what the matrix is multiplied with
  std::optional<comm::Communicator> chosen_comm; ///< where the exchange had a choice: what it has chosen
  Operator product;
  std::unique_ptr<Preconditioner> preconditioner;
  Vector x;
  ResidualLog log;
  Kokkos::View<CgScalars, Space> numbers; ///< 0 when a method begins
  double unit;         ///< a power of two, so that squares are in range: b, x and all that comes of them are times this
  Vector b, guess;     ///< guess: empty: 0
  bool fused;          ///< kernels compute sums, and multiply with a diagonal, on the way
  bool closed = false; ///< the last step's residual is in the log: a method that ends late does not write it again
  miniapp::Timer &vectors, &post, &wait;

  /// All ranks, with what the exchange of ghosts has chosen: for other exchanges of the same ghosts.
  const comm::Communicator& exchange_comm() const { return chosen_comm ? *chosen_comm : work.comm; }
  std::int64_t own() const { return work.partition.own; }
  const Space& compute() const { return work.streams.compute(); }
  /// The diagonal of M that kernels multiply with; null: none.
  const Vector* diagonal() const { return fused && preconditioner ? preconditioner->diagonal() : nullptr; }
  /// Whether M is there and must be applied.
  bool applies() const { return preconditioner && !diagonal(); }

  /// Local. A vector of own rows; empty unless it is needed.
  Vector vector(const std::string& label, bool needed = true) const;
  /// Local; waits unless the factor is 1.
  Vector scaled(double factor, const Vector&) const;

  /// Local. Rows, timed as vectors.
  template <class Row>
  void update(const char* label, const Row& row) const {
    const miniapp::ScopedTimer timed(vectors);
    for_rows(label, compute(), own(), row);
  }
  /// Local. The same, and then last() by one thread; `sums` lends what teams need for it.
  template <class Row, class Last>
  void update_then(const char* label, const Row& row, const GlobalDots& sums, const Last& last) const {
    const miniapp::ScopedTimer timed(vectors);
    for_rows_then(label, compute(), own(), row, sums.parts(), last);
  }
  /// Local. The same, and then last() by one thread with this rank's sums of what the rows return.
  template <int count, class Row, class Last>
  void update_with_sums(const char* label, const Row& row, const GlobalDots& sums, const Last& last) const {
    const miniapp::ScopedTimer timed(vectors);
    for_rows_with_sums<count>(label, compute(), own(), row, sums.parts(), last);
  }
  /// Local. Sum k = a.b.
  void dot(GlobalDots& sums, int k, const Vector& a, const Vector& b) const {
    const miniapp::ScopedTimer timed(vectors);
    sums.dot(compute(), k, a, b);
  }
  /// Local. One thread.
  template <class Kernel>
  void one(const char* label, const Kernel& kernel) const {
    Kokkos::parallel_for(label, Kokkos::RangePolicy<Space>(compute(), 0, 1), kernel);
  }
  /// Collective. The sums of all ranks.
  void start(GlobalDots&) const;
  void finish(GlobalDots&) const;
  void reduce(GlobalDots& sums) const {
    start(sums);
    finish(sums);
  }
  /// Collective. y = A v, through the ghosted vector, which holds v afterwards.
  void multiply(const Vector& v, const Vector& y);

 private:
  double choose_unit();
};

/// A vector of a method, in the method's own memory.
struct SolverStateVector {
  std::string name;
  Vector values;
};

/// What a method is made of.
struct MethodParts {
  std::vector<SolverStateVector> vectors; ///< that a step resumes from, but for the solution
  std::vector<GlobalDots*> sums;          ///< of a step
  Vector residual;                        ///< r
  Vector scratch;                         ///< holds nothing between steps; not the ghosted vector
  Cost step;                              ///< of a step
  Cost replacement = {};
  std::int64_t replace_every = 0; ///< steps after which vectors of recurrences are made anew; 0: never
  /// A step leaves it to the next one to write its residual to the log, and begin() to the first.
  bool ends_late = false;
};

/// A conjugate-gradient method on a state, which outlives it. Steps that are queued after the last one change nothing.
class CgMethod {
 public:
  virtual ~CgMethod() = default;
  const MethodParts& parts() const { return parts_; }

  /// Collective. Of r = b - A x: what the first step needs, and iteration 0 to the log.
  virtual void begin() = 0;
  /// Collective; only queues where that is possible. The next iteration.
  virtual void step() = 0;
  /// Collective, where it ends late: the residual of the last step to the log. The next step finds the state closed.
  virtual void end() {}
  /// Collective. Makes vectors of recurrences anew, every so many iterations.
  virtual void replace() {}
  /// Collective. The vectors that a step resumes from have been given; others that follow from them are not yet what
  /// they were.
  virtual void complete_vectors() {}
  /// Local. What record() tells of a solve so far, and its way back.
  virtual std::vector<double> counts() const { return {}; }
  virtual void set_counts(const std::vector<double>&) {}
  /// Local. What the record says, an object.
  virtual nlohmann::ordered_json record() const { return nlohmann::ordered_json::object(); }

 protected:
  explicit CgMethod(CgState& state) : cg_(state) {}

  CgState& cg_;
  MethodParts parts_; ///< set by the constructor
};

/// Collective.
std::unique_ptr<CgMethod> make_classic(CgState&);

} // namespace kontor::cg
