// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// M. R. Hestenes, E. Stiefel, "Methods of conjugate gradients for solving linear systems", J. Res. Natl. Bur.
// Stand. 49 (1952); preconditioned as in Y. Saad, "Iterative methods for sparse linear systems",
// algorithm 9.1.
#include "cg/reduce.hpp"
#include "cg/solver/operator.hpp"
#include "cg/solver/residual_log.hpp"
#include "cg/solver/solver.hpp"
#include "cg/sums.hpp"

#include <cmath>

namespace kontor::cg {
namespace {

/// The numbers of an iteration that kernels share.
struct Numbers {
  double rz;    ///< r.z of the residual that the direction was made of
  double alpha; ///< of the step that was made last
  double beta;
};

/// r = b - A x, and the sums b.b and r.r.
struct FirstResidual {
  Vector b, ax, r;
  KOKKOS_FUNCTION SumsOf<2> operator()(std::int64_t i) const {
    SumsOf<2> sums;
    const double value = b(i) - ax(i);
    r(i) = value;
    sums[0] = b(i) * b(i);
    sums[1] = value * value;
    return sums;
  }
};

struct Begin {
  const double* sums; ///< b.b, r.r
  double tolerance;
  Numbers* numbers;
  ResidualLog::Writer log;
  KOKKOS_FUNCTION void operator()(int) const {
    log.state->rhs = sums[0];
    log.state->tolerance = tolerance > 0 ? tolerance * tolerance * sums[0] : -1;
    *numbers = {sums[1], 0, 0};
    log(sums[1], 0);
  }
};

/// r -= alpha q, and the sum r.r.
struct UpdateResidual {
  Vector r, q;
  const double* pq;
  const Numbers* numbers;
  const IterationState* state;
  KOKKOS_FUNCTION double alpha() const { return state->ended == 0 && *pq > 0 ? numbers->rz / *pq : 0; }
  KOKKOS_FUNCTION SumsOf<1> operator()(std::int64_t i) const {
    SumsOf<1> sum;
    const double value = r(i) - alpha() * q(i);
    r(i) = value;
    sum[0] = value * value;
    return sum;
  }
};

/// One thread: alpha and beta of the step whose sums are there, and the log.
struct EndStep {
  UpdateResidual step;
  const double* rr;
  Numbers* numbers;
  ResidualLog::Writer log;
  KOKKOS_FUNCTION void operator()(int) const {
    const double alpha = step.alpha();
    const double beta = numbers->rz > 0 ? *rr / numbers->rz : 0;
    *numbers = {*rr, alpha, beta};
    log(*rr, *step.pq > 0 ? 0 : 1 + static_cast<int>(Ending::indefinite));
  }
};

/// x += alpha p, p = r + beta p.
struct UpdateDirection {
  Vector x, p, r;
  const Numbers* numbers;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const double direction = p(i);
    x(i) += numbers->alpha * direction;
    p(i) = r(i) + numbers->beta * direction;
  }
};

class Classic final : public Solver {
 public:
  explicit Classic(const Workspace& work)
      : work_(work), product_(work), p_(work.comm, work.partition, "cg/p", work.streams.exchange()),
        x_("cg/x", own()), r_("cg/r", own()), q_("cg/q", own()), numbers_("cg/numbers"),
        pq_(work.comm, "p.q", 1, work.streams.compute()),
        norms_(work.comm, "norms", 2, work.streams.compute()),
        rr_(work.comm, "r.r", 1, work.streams.compute()), vectors_(work.timers["vectors"]),
        post_(work.timers["sums_post"]), wait_(work.timers["sums_wait"]) {}

  void reset() override {
    Kokkos::deep_copy(x_, work_.initial);
    p_.exchange().reset_times();
  }

  Outcome solve() override {
    const auto& compute = work_.streams.compute();
    begin();
    const auto limit = work_.options.max_iterations;
    std::int64_t iteration = 0;
    bool ended = log_.ended(compute, 0);
    while (!ended && iteration < limit) {
      step();
      ended = log_.ended(compute, ++iteration);
    }
    work_.streams.fence();
    log_.end(compute, iteration);
    return outcome();
  }

  const Vector& solution() const override { return x_; }
  const std::vector<double>& history() const override { return history_; }
  const comm::Exchange<Vector>& exchange() const override { return p_.exchange(); }
  comm::PhaseTimes exchange_times() const override { return p_.exchange().times(); }

 private:
  std::int64_t own() const { return work_.partition.own; }

  void begin() {
    const auto& compute = work_.streams.compute();
    log_.begin();
    Kokkos::deep_copy(compute, p_.own(), x_);
    product_.apply(p_, q_);
    for_rows_with_sums<2>("cg/first residual", compute, own(), FirstResidual{work_.rhs, q_, r_},
                          sums_at<2>(norms_.local()));
    reduce(norms_);
    one("cg/begin", Begin{norms_.local(), work_.options.tolerance, numbers_.data(), log_.writer()});
    Kokkos::deep_copy(compute, p_.own(), r_);
  }

  void step() {
    const auto& compute = work_.streams.compute();
    if (work_.options.fused) {
      product_.apply_and_dot(p_, q_, pq_.local());
    } else {
      product_.apply(p_, q_);
      const miniapp::ScopedTimer timed(vectors_);
      pq_.dot(compute, 0, p_.own(), q_);
    }
    reduce(pq_);
    const UpdateResidual update{r_, q_, pq_.local(), numbers_.data(), log_.state()};
    {
      const miniapp::ScopedTimer timed(vectors_);
      for_rows_with_sums<1>("cg/update residual", compute, own(), update, sums_at<1>(rr_.local()));
    }
    reduce(rr_);
    one("cg/end of a step", EndStep{update, rr_.local(), numbers_.data(), log_.writer()});
    const miniapp::ScopedTimer timed(vectors_, 0);
    Kokkos::parallel_for("cg/update direction", Policy(compute, 0, own()),
                         UpdateDirection{x_, p_.own(), r_, numbers_.data()});
  }

  void reduce(Sums& sums) {
    {
      const miniapp::ScopedTimer timed(post_);
      sums.start(work_.streams.compute());
    }
    const miniapp::ScopedTimer timed(wait_);
    sums.finish(work_.streams.compute());
  }

  template <class Kernel>
  void one(const char* label, const Kernel& kernel) {
    Kokkos::parallel_for(label, Kokkos::RangePolicy<Space>(work_.streams.compute(), 0, 1), kernel);
  }

  Outcome outcome() {
    IterationState state;
    Kokkos::deep_copy(
        state, Kokkos::View<IterationState, Space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(log_.state()));
    const double scale = state.rhs > 0 ? std::sqrt(state.rhs) : 1;
    history_.clear();
    for (const auto squared : log_.squared()) history_.push_back(std::sqrt(squared) / scale);
    const auto open = work_.options.tolerance > 0 ? Ending::limit : Ending::all_iterations;
    return {log_.ending().value_or(open), static_cast<std::int64_t>(history_.size()) - 1, history_.back()};
  }

  Workspace work_;
  Operator product_;
  GhostedVector p_;
  Vector x_, r_, q_;
  Kokkos::View<Numbers, Space> numbers_;
  Sums pq_, norms_, rr_;
  ResidualLog log_;
  std::vector<double> history_;
  miniapp::Timer& vectors_;
  miniapp::Timer& post_;
  miniapp::Timer& wait_;
};

} // namespace

std::unique_ptr<Solver> make_classic(const Workspace& work) {
  return std::make_unique<Classic>(work);
}

} // namespace kontor::cg
