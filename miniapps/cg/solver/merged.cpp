// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A. T. Chronopoulos, C. W. Gear, "s-step iterative methods for symmetric linear systems", J. Comput. Appl. Math. 25
// (1989); preconditioned as in P. Ghysels, W. Vanroose, "Hiding global synchronization latency in the preconditioned
// conjugate gradient algorithm", Parallel Comput. 40 (2014), algorithm 2.
//
// Vectors: x, r, w, p, s; u with a preconditioner.
// Sums: one an iteration, of r.u, u.w and r.r together, after the product.
// Rounding: s = A p by a recurrence, and p.A p by another, so r is farther from b - A x than in classic, and a p.A p
// that is not above 0 need not be the matrix's fault.
#include "cg/solver/merged.hpp"

namespace kontor::cg {
namespace {

template <bool scaled>
struct Update : MergedUpdate {
  KOKKOS_FUNCTION PartialSums<2> operator()(std::int64_t i, const StepScalars& c) const { return row<scaled>(i, c); }
};

} // namespace

void Merged::begin_iteration() {
  for (const auto& vector : {p_, s_}) Kokkos::deep_copy(compute(), vector, 0.0);
  if (preconditioner_) preconditioner_->apply(r_, ghosted_.own());
  dot(sums_, 0, r_, ghosted_.own());
  dot(sums_, 1, r_, r_);
  multiply_and_reduce();
}

void Merged::step() {
  const auto& u = ghosted_.own();
  if (diagonal()) {
    update_with_sums<2>("cg/update", Update<true>{updates()}, sums_, EndThenStore<2>{before(), sums_.local()});
  } else {
    const Update<false> change{updates()};
    if (fused())
      update_with_sums<2>("cg/update", change, sums_, EndThenStore<2>{before(), sums_.local()});
    else
      update_then("cg/update", change, sums_, EndThenStore<0>{before(), nullptr});
    if (preconditioner_) preconditioner_->apply(r_, u);
    if (!fused() || preconditioner_) dot(sums_, 0, r_, u);
    if (!fused()) dot(sums_, 1, r_, r_);
  }
  multiply_and_reduce();
}

void Merged::multiply_and_reduce() {
  product_.apply(ghosted_, w_, fused() ? sums_.local(2) : nullptr);
  if (!fused()) dot(sums_, 2, ghosted_.own(), w_);
  reduce(sums_);
  if (!late_) write_end();
}

Cost Merged::step_cost() const {
  const bool scaled = diagonal() != nullptr;
  auto cost = product_cost + MergedUpdate::cost_of(scaled, preconditioner_ != nullptr) +
              (fused() ? Cost{.updates = 1} : dot_cost);
  if (applies()) cost += preconditioner_->cost();
  if (applies() && fused()) cost += dot_cost;                                         // r.u
  if (!fused()) cost += Cost{.reads = 1} + (applies() ? dot_cost : Cost{.reads = 1}); // r.r, r.u
  return cost;
}

std::vector<SolverStateVector> Merged::vectors() const {
  std::vector<SolverStateVector> all{{"r", r_}, {"w", w_}, {"p", p_}, {"s", s_}};
  if (preconditioner_) all.push_back({"u", ghosted_.own()});
  return all;
}

std::unique_ptr<Solver> make_merged(const Workspace& work) { return std::make_unique<Merged>(work); }

} // namespace kontor::cg
