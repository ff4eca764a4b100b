// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// M. R. Hestenes, E. Stiefel, "Methods of conjugate gradients for solving linear systems", J. Res. Natl. Bur. Stand. 49
// (1952); preconditioned as in Y. Saad, "Iterative methods for sparse linear systems", 2nd ed., algorithm 9.1.
//
// Vectors: x, r, p, q; z with a preconditioner that must be applied.
// Sums: two an iteration, p.q, then r.r and r.z; the second waits for the first.
// Rounding: p.A p is computed of what it says, so an indefinite matrix is found; of the three methods r stays nearest
// to b - A x.
#include "cg/solver/method.hpp"

namespace kontor::cg {
namespace {

/// r -= alpha q, and the sums r.r and r.z, z = D^-1 r if scaled.
template <bool scaled>
struct UpdateResidual {
  Vector r, q, inverse;
  const double* pq; ///< two parts
  const CgScalars* numbers;
  const IterationState* state;
  static constexpr Cost cost{.updates = scaled ? 3 : 2, .reads = scaled ? 3 : 2, .writes = 1};

  KOKKOS_FUNCTION double curvature() const { return pq[0] + pq[1]; }
  /// alpha; 0 if the step cannot be made.
  KOKKOS_FUNCTION double scalars() const {
    return state->ended == 0 && curvature() > 0 ? numbers->rz / curvature() : 0;
  }
  KOKKOS_FUNCTION PartialSums<scaled ? 2 : 1> operator()(std::int64_t i, double alpha) const {
    PartialSums<scaled ? 2 : 1> sums;
    const double value = r(i) - alpha * q(i);
    r(i) = value;
    sums[0] = value * value;
    if constexpr (scaled) sums[1] = value * (inverse(i) * value);
    return sums;
  }
};

/// Iteration 0 to the log.
struct Begin {
  const double* sums; ///< r.r, r.z
  CgScalars* numbers;
  ResidualLog::Writer log;
  KOKKOS_FUNCTION void operator()(int) const {
    *numbers = {sums[1], 0, 0};
    log({sums[0], 0, 0, problem_of(sums[0], sums[1], true, 1, true), true});
  }
};

/// alpha and beta of the step whose sums are there, and the log.
struct EndStep {
  UpdateResidual<false> step;
  const double* sums; ///< r.r, r.z
  bool same;          ///< r.z = r.r
  CgScalars* numbers;
  ResidualLog::Writer log;

  KOKKOS_FUNCTION double rz() const { return same ? sums[0] : sums[1]; }
  KOKKOS_FUNCTION CgScalars result() const { return {rz(), step.scalars(), rz() / numbers->rz}; }
  KOKKOS_FUNCTION void write() const {
    const int not_made = problem_of(numbers->rz, numbers->rz, true, step.curvature(), true);
    const auto now = result();
    log({sums[0], now.alpha, now.beta, not_made != 0 ? not_made : problem_of(sums[0], now.rz, true, 1, true),
         not_made == 0});
    *numbers = now;
  }
};

/// After the update of the residual: its sums, and the end of the step if these are all that it waits for.
template <int count>
struct StoreThenEnd {
  double* to;
  EndStep end;
  bool ends;
  KOKKOS_FUNCTION void operator()(const PartialSums<count>& sums) const {
    StoreTo<count>{to}(sums);
    if (ends) end.write();
  }
};

/// x += alpha p, p = z + beta p, z = D^-1 r if scaled.
template <bool scaled>
struct UpdateDirection {
  Vector x, p, z, inverse;
  EndStep step;
  bool ended; ///< the step's end has been written down
  static constexpr Cost cost{.updates = 2, .reads = scaled ? 4 : 3, .writes = 2};

  KOKKOS_FUNCTION CgScalars scalars() const { return ended ? *step.numbers : step.result(); }
  KOKKOS_FUNCTION void operator()(std::int64_t i, const CgScalars& n) const {
    if (n.alpha == 0) return; // it has ended
    const double direction = p(i);
    x(i) += n.alpha * direction;
    if constexpr (scaled)
      p(i) = inverse(i) * z(i) + n.beta * direction;
    else
      p(i) = z(i) + n.beta * direction;
  }
};

struct WriteEnd {
  EndStep end;
  KOKKOS_FUNCTION void operator()(const PartialSums<0>&) const { end.write(); }
};

class Classic final : public CgMethod {
 public:
  explicit Classic(CgState& state)
      : CgMethod(state), r_(cg_.vector("r")), z_(cg_.preconditioner ? cg_.vector("z", cg_.applies()) : r_),
        q_(cg_.vector("q")), inverse_(cg_.diagonal() ? *cg_.diagonal() : Vector()),
        pq_(cg_.exchange_comm(), "p.q", 2, cg_.compute(), cg_.work.options.sums),
        rr_(cg_.exchange_comm(), "r.r and r.z", cg_.preconditioner ? 2 : 1, cg_.compute(), cg_.work.options.sums),
        first_(cg_.exchange_comm(), "r.r and r.z at first", 2, cg_.compute(), cg_.work.options.sums) {
    parts_ = {.vectors = {{"r", r_}, {"p", cg_.ghosted.own()}},
              .sums = {&pq_, &rr_},
              .residual = r_,
              .scratch = q_,
              .step = step_cost()};
  }

 private:
  void begin() override {
    const auto& p = cg_.ghosted.own();
    if (cg_.preconditioner)
      cg_.preconditioner->apply(r_, p);
    else
      Kokkos::deep_copy(cg_.compute(), p, r_);
    first_.dot(cg_.compute(), 0, r_, r_);
    first_.dot(cg_.compute(), 1, r_, p);
    cg_.reduce(first_);
    cg_.one("cg/begin classic", Begin{first_.local(), cg_.numbers.data(), cg_.log.writer()});
  }

  void step() override {
    const auto& p = cg_.ghosted.own();
    cg_.product.apply(cg_.ghosted, q_, cg_.fused ? pq_.local() : nullptr);
    if (!cg_.fused) cg_.dot(pq_, 0, p, q_);
    cg_.reduce(pq_);
    const UpdateResidual<false> change{r_, q_, {}, pq_.local(), cg_.numbers.data(), cg_.log.state()};
    const EndStep end{change, rr_.local(), !cg_.preconditioner, cg_.numbers.data(), cg_.log.writer()};
    // One kernel less, where the sums are known as soon as the residual is.
    const bool ends_soon = cg_.fused && !cg_.applies() && rr_.complete();
    update_residual(end, ends_soon);
    cg_.reduce(rr_);
    if (cg_.diagonal())
      update_direction(UpdateDirection<true>{cg_.x, p, r_, inverse_, end, ends_soon});
    else
      update_direction(UpdateDirection<false>{cg_.x, p, z_, {}, end, ends_soon});
  }

  void update_residual(const EndStep& end, bool ends_soon) {
    const auto& c = end.step;
    if (cg_.diagonal())
      return cg_.update_with_sums<2>("cg/update residual",
                                     UpdateResidual<true>{c.r, c.q, inverse_, c.pq, c.numbers, c.state}, rr_,
                                     StoreThenEnd<2>{rr_.local(), end, ends_soon});
    if (cg_.fused) {
      cg_.update_with_sums<1>("cg/update residual", c, rr_, StoreThenEnd<1>{rr_.local(), end, ends_soon});
    } else {
      cg_.update("cg/update residual", c);
      cg_.dot(rr_, 0, r_, r_);
    }
    if (!cg_.preconditioner) return;
    cg_.preconditioner->apply(r_, z_);
    cg_.dot(rr_, 1, r_, z_);
  }

  template <class Row>
  void update_direction(const Row& row) {
    if (row.ended)
      cg_.update("cg/update direction", row);
    else
      cg_.update_then("cg/update direction", row, rr_, WriteEnd{row.step});
  }

  Cost step_cost() const {
    const auto sum_of_product = cg_.fused ? Cost{.updates = 1} : dot_cost;
    if (cg_.diagonal()) return product_cost + sum_of_product + UpdateResidual<true>::cost + UpdateDirection<true>::cost;
    auto cost = product_cost + sum_of_product + UpdateResidual<false>::cost + UpdateDirection<false>::cost;
    if (!cg_.fused) cost += {.reads = 1}; // r.r
    if (cg_.preconditioner) cost += cg_.preconditioner->cost() + dot_cost;
    return cost;
  }

  Vector r_, z_, q_, inverse_;
  GlobalDots pq_, rr_, first_;
};

} // namespace

std::unique_ptr<CgMethod> make_classic(CgState& state) { return std::make_unique<Classic>(state); }

} // namespace kontor::cg
