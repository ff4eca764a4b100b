// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "cg/solver/merged_update.hpp"
#include "cg/solver/solver.hpp"

#include <vector>

namespace kontor::cg {

/// The method with one sum an iteration, after the product (merged.cpp).
class Merged : public Solver {
 public:
  explicit Merged(const Workspace& work)
      : Solver(work, "cg/u"), r_(preconditioner_ ? vector("r") : ghosted_.own()), w_(vector("w")), p_(vector("p")),
        s_(vector("s")), inverse_(diagonal() ? *diagonal() : Vector()),
        sums_(exchange_comm(), "r.u, r.r and u.w", 4, compute(), work.options.sums), late_(work.as_on_device) {}

 protected:
  void begin_iteration() override;
  void step() override;
  Cost step_cost() const override;
  /// On a device the next step's updates end a step, or it would be another kernel; a host sees sooner that there is no
  /// next step.
  bool ends_late() const override { return late_; }
  void end() override {
    if (late_) write_end();
  }
  void write_end() { one("cg/end of a step", WriteEnd{before()}); }
  MergedUpdate updates() const { return {x_, r_, ghosted_.own(), w_, p_, s_, inverse_, before()}; }
  EndOfStep before() const { return {sums_.local(), true, false, late_ && !drained(), numbers_.data(), log_.writer()}; }

  std::vector<SolverStateVector> vectors() const override;
  std::vector<GlobalDots*> sums() override { return {&sums_}; }
  const Vector& residual() const override { return r_; }
  const Vector& scratch() const override { return w_; }

  Vector r_, w_, p_, s_, inverse_;
  GlobalDots sums_;

 private:
  void multiply_and_reduce();

  bool late_;
};

} // namespace kontor::cg
