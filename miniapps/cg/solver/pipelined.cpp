// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// P. Ghysels, W. Vanroose, "Hiding global synchronization latency in the preconditioned conjugate gradient algorithm",
// Parallel Comput. 40 (2014), algorithm 4. Residual replacement: S. Cools, E. F. Yetkin, E. Agullo, L. Giraud, W.
// Vanroose, "Analyzing the effect of local rounding error propagation on the maximal attainable accuracy of the
// pipelined conjugate gradient method", SIAM J. Matrix Anal. Appl. 39 (2018).
//
// Vectors: x, r, w, n, p, s, z; m with a preconditioner; u, q with one that must be applied.
// Sums: one an iteration, of r.u, w.u and r.r together, which travels while m = M w and n = A m are computed. So the
// residual of an iteration is known one product late.
// Rounding: r, w = A u, s = A p and z = A q all by recurrences, whose errors grow together: without replacement r
// leaves b - A x long before classic's does, and p.A p may no longer be above 0.
#include "cg/solver/one_sum.hpp"

#include <cmath>

namespace kontor::cg {
namespace {

/// How u = M r and m = M w are computed. Where M is diagonal, or not there, of r and w; else u -= alpha q by the
/// recurrence q = m + beta q.
enum class By { identity, diagonal, application };
template <By m_is>
struct Update : PipelinedUpdate {
  Vector u, q;
  static constexpr Cost cost = m_is == By::application ? Cost{.updates = 11, .reads = 10, .writes = 8}
                               : m_is == By::diagonal  ? Cost{.updates = 9, .reads = 8, .writes = 7}
                                                       : Cost{.updates = 8, .reads = 7, .writes = 6};

  KOKKOS_FUNCTION PartialSums<3> operator()(std::int64_t i, const StepScalars& c) const {
    if (!c.goes_on) return {};
    auto row = load(i);
    if constexpr (m_is == By::application) {
      const double qi = m(i) + c.beta * q(i);
      double ui = u(i);
      row.step(ui, c);
      ui = ui - c.alpha * qi;
      q(i) = qi;
      u(i) = ui;
      store(i, row);
      return row.sums(ui);
    }
    const double scale = m_is == By::diagonal ? inverse(i) : 1;
    row.step(scale * row.r, c);
    store(i, row);
    if constexpr (m_is == By::diagonal) m(i) = scale * row.w;
    return row.sums(scale * row.r);
  }
};

/// r = b - A x, and by how much it was something else, of A x.
struct ReplaceResidual {
  Vector b, ax, r;
  static constexpr Cost cost{.reads = 3, .writes = 2};
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const double value = b(i) - ax(i);
    ax(i) = value - r(i);
    r(i) = value;
  }
};

/// Of the replacements of a solve.
struct Drift {
  std::int64_t replacements = 0;
  double largest = 0; ///< norm of b - A x less the recurrence's r, beside that of b
};

struct Begin {
  Drift* drift;
  KOKKOS_FUNCTION void operator()(int) const { *drift = Drift{}; }
};

struct KeepDrift {
  const double* squared;
  const IterationState* state;
  Drift* drift;
  KOKKOS_FUNCTION void operator()(int) const {
    if (state->ended != 0) return;
    ++drift->replacements;
    const double value = std::sqrt(*squared / state->rhs);
    if (!(value <= drift->largest)) drift->largest = value;
  }
};

class Pipelined final : public OneSumMethod {
 public:
  explicit Pipelined(CgState& state)
      : OneSumMethod(state), r_(cg_.vector("r")), w_(cg_.preconditioner ? cg_.vector("w") : cg_.ghosted.own()),
        n_(cg_.vector("n")), p_(cg_.vector("p")), s_(cg_.vector("s")), z_(cg_.vector("z")),
        u_(cg_.vector("u", cg_.applies())), q_(cg_.vector("q", cg_.applies())), drift_("cg/drift"),
        // a backend that reduces on a stream has all its work on one
        sums_(cg_.exchange_comm(), "r.u, r.r and w.u", 3,
              cg_.exchange_comm().capabilities().stream_collectives ? cg_.work.streams.exchange() : cg_.compute(),
              cg_.work.options.sums),
        drift_sum_(cg_.exchange_comm(), "drift", 1, cg_.compute(), cg_.work.options.sums) {
    parts_ = {.vectors = {{"r", r_}, {"w", w_}, {"p", p_}, {"s", s_}, {"z", z_}},
              .sums = {&sums_},
              .residual = r_,
              .scratch = n_,
              .step = step_cost(),
              .replacement = replace_cost(),
              .replace_every = cg_.work.options.replace_every,
              .ends_late = true};
    if (!cg_.applies()) return;
    parts_.vectors.push_back({"u", u_});
    parts_.vectors.push_back({"q", q_});
  }

  nlohmann::ordered_json record() const override {
    Drift drift;
    Kokkos::deep_copy(drift, drift_);
    return {{"replacements", drift.replacements}, {"drift", drift.largest}};
  }

 private:
  void begin() override {
    for (const auto& vector : {p_, s_, z_, q_}) Kokkos::deep_copy(cg_.compute(), vector, 0.0);
    cg_.one("cg/begin pipelined", Begin{drift_.data()});
    begin_recurrences();
  }

  void step() override {
    const bool sums_travel = !cg_.closed;
    if (sums_travel) cg_.start(sums_);
    sums_.progress();
    if (cg_.applies()) {
      cg_.preconditioner->apply(w_, cg_.ghosted.own());
      sums_.progress();
    }
    cg_.product.apply(cg_.ghosted, n_, nullptr, sums_travel ? &sums_ : nullptr);
    if (sums_travel) cg_.finish(sums_);
    update_vectors();
  }

  Cost step_cost() const {
    auto cost = product_cost;
    if (cg_.applies())
      cost += Update<By::application>::cost + cg_.preconditioner->cost();
    else
      cost += cg_.diagonal() ? Update<By::diagonal>::cost : Update<By::identity>::cost;
    if (!cg_.fused) cost += {.reads = cg_.applies() ? 5. : 4.}; // r.u, r.r, w.u, which then have loops of their own
    return cost;
  }
  Cost replace_cost() const {
    auto with_m = product_cost; // precondition_and_multiply()
    if (cg_.preconditioner) with_m += cg_.preconditioner->cost();
    if (!cg_.diagonal()) with_m += copy_cost;
    auto cost = 2 * (product_cost + copy_cost) + 2 * with_m + ReplaceResidual::cost + norm_cost + norm_cost +
                2 * dot_cost + copy_cost;
    if (cg_.diagonal()) cost += cg_.preconditioner->cost();
    return cost;
  }

  void end() override {
    cg_.reduce(sums_);
    cg_.one("cg/end of a step", WriteEnd{before()});
  }

  void replace() override {
    cg_.multiply(p_, s_);
    precondition_and_multiply(s_, q_, z_);
    cg_.multiply(cg_.x, n_);
    cg_.update("cg/replace residual", ReplaceResidual{cg_.b, n_, r_});
    cg_.dot(drift_sum_, 0, n_, n_);
    cg_.reduce(drift_sum_);
    cg_.one("cg/drift", KeepDrift{drift_sum_.local(), cg_.log.state(), drift_.data()});
    begin_recurrences();
  }

  /// Of r: u, w, m, and the sums.
  void begin_recurrences() {
    precondition_and_multiply(r_, u_, n_);
    const auto& u = cg_.ghosted.own();
    sums_.forget(cg_.compute()); // of the vectors that are replaced
    cg_.dot(sums_, 0, r_, u);
    cg_.dot(sums_, 1, r_, r_);
    cg_.dot(sums_, 2, n_, u);
    Kokkos::deep_copy(cg_.compute(), w_, n_);
    if (cg_.diagonal()) cg_.preconditioner->apply(w_, cg_.ghosted.own());
  }

  /// y = A M v, with M v in the ghosted vector, and in mv where there is one.
  void precondition_and_multiply(const Vector& v, const Vector& mv, const Vector& y) {
    if (cg_.applies()) cg_.preconditioner->apply(v, mv);
    if (!cg_.diagonal()) return cg_.multiply(cg_.applies() ? mv : v, y);
    cg_.preconditioner->apply(v, cg_.ghosted.own());
    cg_.product.apply(cg_.ghosted, y);
  }

  PipelinedUpdate updates() const {
    return {cg_.x, r_, cg_.ghosted.own(), w_, n_, p_, s_, z_, cg_.diagonal() ? *cg_.diagonal() : Vector(), before()};
  }
  void update_vectors() {
    if (cg_.applies())
      update_and_sum(Update<By::application>{updates(), u_, q_}, u_);
    else if (cg_.diagonal())
      update_and_sum(Update<By::diagonal>{updates(), {}, {}}, u_);
    else
      update_and_sum(Update<By::identity>{updates(), {}, {}}, r_);
  }
  template <class Row>
  void update_and_sum(const Row& row, const Vector& u) {
    if (cg_.fused) return cg_.update_with_sums<3>("cg/update", row, sums_, EndThenStore<3>{before(), sums_.local()});
    cg_.update_then("cg/update", row, sums_, EndThenStore<0>{before(), nullptr});
    cg_.dot(sums_, 0, r_, u);
    cg_.dot(sums_, 1, r_, r_);
    cg_.dot(sums_, 2, w_, u);
  }
  EndOfStep before() const { return {sums_.local(), false, true, !cg_.closed, cg_.numbers.data(), cg_.log.writer()}; }

  void complete_vectors() override {
    if (cg_.diagonal()) cg_.preconditioner->apply(w_, cg_.ghosted.own());
  }
  std::vector<double> counts() const override {
    Drift drift;
    Kokkos::deep_copy(drift, drift_);
    return {static_cast<double>(drift.replacements), drift.largest};
  }
  void set_counts(const std::vector<double>& counts) override {
    Kokkos::deep_copy(drift_, Drift{static_cast<std::int64_t>(counts.at(0)), counts.at(1)});
  }

  OneSumUpdate rows() override { return updates(); }

  Vector r_, w_, n_, p_, s_, z_, u_, q_;
  Kokkos::View<Drift, Space> drift_;
  GlobalDots sums_, drift_sum_;
};

} // namespace

std::unique_ptr<OneSumMethod> make_pipelined(CgState& state) { return std::make_unique<Pipelined>(state); }

} // namespace kontor::cg
