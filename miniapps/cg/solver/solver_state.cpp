// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cg/solver/solver_state.hpp"

#include "cg/solver/solver.hpp"

#include <utility>

namespace kontor::cg {

SolverState Solver::state() const {
  SolverState state{.iterations = steps_, .vectors = {{"x", x_}}, .state = log_.state_now()};
  for (auto& vector : vectors()) state.vectors.push_back(std::move(vector));
  Kokkos::deep_copy(state.numbers, numbers_);
  state.made = log_.made();
  state.counts = counts();
  if (preconditioner_) state.estimates = preconditioner_->estimates();
  return state;
}

void Solver::go_on_from(const SolverState& from, const FillVector& fill) {
  const bool differs = preconditioner_ && !from.estimates.empty() && preconditioner_->set_estimates(from.estimates);
  if (differs && graph_) choose_repetition(); // it has the numbers of the other preconditioner
  auto state = from.state;
  state.tolerance = squared_tolerance() * state.rhs;
  state.stagnation = work_.options.stagnation;
  log_.go_on(state, from.made);
  Kokkos::deep_copy(numbers_, from.numbers);
  if (!from.counts.empty()) set_counts(from.counts);
  for (const auto& vector : from.vectors) fill(vector);
  complete_vectors();
  work_.streams.fence();
  steps_ = from.iterations;
  drained_ = ends_late();
  goes_on_ = true;
}

} // namespace kontor::cg
