// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Y. Saad, "Iterative methods for sparse linear systems", 2nd ed., algorithm 12.1: so many steps of the Chebyshev
// iteration from 0, for D^-1 A z = D^-1 r, which is a polynomial in D^-1 A times D^-1, so symmetric. On its use beside
// Gauss-Seidel: M. Adams, M. Brezina, J. Hu, R. Tuminaro, "Parallel multigrid smoothing: polynomial versus
// Gauss-Seidel", J. Comput. Phys. 188 (2003).
//
// Bounds of the eigenvalues of D^-1 A: from ten iterations of the conjugate-gradient method with D^-1. What they find
// for the largest is too small, hence a tenth more, as PETSc's KSPCHEBYSHEV has it, but never more than Gershgorin's
// bound, which is certain. What they find for the smallest is too large, which does no harm: the polynomial is positive
// on all of (0, largest].
//
// An application of degree d exchanges d times.
#include "cg/preconditioner/preconditioner.hpp"
#include "random/counter_random.hpp"
#include "stepping/row_sums.hpp"

#include <algorithm>

namespace kontor::cg {
namespace {

/// Numbers of (-1, 1) that look random and are the same whoever has the rows.
struct FillStart {
  Kokkos::View<GlobalIndex*> global;
  Vector start;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    start(i) = random::uniform<double>(random::mix(static_cast<std::uint64_t>(global(i)) + random::step));
  }
};

/// d = scale D^-1 r, z = d.
struct FirstStep {
  Vector diagonal, r, d, z;
  double scale;
  static constexpr Cost cost{.reads = 2, .writes = 2};
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const double step = scale * (diagonal(i) * r(i));
    d(i) = step;
    z(i) = step;
  }
};

/// d = keep d + scale D^-1 (r - A z), next = z + d.
struct NextStep {
  Vector diagonal, r, az, d, z, next;
  double keep, scale;
  static constexpr Cost cost{.updates = 3, .reads = 5, .writes = 2};
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const double step = keep * d(i) + scale * (diagonal(i) * (r(i) - az(i)));
    d(i) = step;
    next(i) = z(i) + step;
  }
};

class Chebyshev final : public Preconditioner {
 public:
  Chebyshev(const DistributedMatrix& a, const Execution& run, std::int64_t degree, const Iterate& iterate)
      : streams_(&run.streams), timer_(run.timers["preconditioner"]), product_(a, run, timer_, timer_),
        diagonal_(inverse_diagonal(a.comm, a.rows)), degree_(degree),
        z_(a.comm, a.partition, "cg/chebyshev z", run.streams.exchange()),
        d_("cg/chebyshev d", static_cast<std::size_t>(a.partition.own)),
        az_("cg/chebyshev A z", static_cast<std::size_t>(a.partition.own)) {
    if (diagonal_.positive) estimate(a.partition, iterate);
  }

  void apply(const Vector& r, const Vector& z) override {
    const double centre = (bounds_.largest + bounds_.smallest) / 2;
    const double half = (bounds_.largest - bounds_.smallest) / 2;
    double rho = half / centre;
    step("cg/chebyshev first step", FirstStep{diagonal_.values, r, d_, z_.own(), 1 / centre});
    for (std::int64_t k = 1; k <= degree_; ++k) {
      product_.apply(z_, az_);
      const double next_rho = 1 / (2 * centre / half - rho);
      step("cg/chebyshev step", NextStep{diagonal_.values, r, az_, d_, z_.own(), k < degree_ ? z_.own() : z,
                                         next_rho * rho, 2 * next_rho / half});
      rho = next_rho;
    }
  }

  Cost cost() const override {
    return FirstStep::cost + static_cast<double>(degree_) * (product_cost + NextStep::cost);
  }
  std::vector<double> estimates() const override { return {bounds_.smallest, bounds_.largest}; }
  bool set_estimates(const std::vector<double>& bounds) override {
    const bool differs = estimates() != bounds;
    bounds_ = {bounds.at(0), bounds.at(1)};
    return differs;
  }

  bool definite() const override { return definite_ && diagonal_.positive; }
  void exchange(bool exchanges) override { product_.exchange(exchanges); }
  comm::PhaseTimes exchange_times() const override { return z_.exchange().times(); }
  void reset_exchange_times() override { z_.exchange().reset_times(); }
  nlohmann::ordered_json record() const override {
    return {{"chebyshev_degree", degree_}, {"eigenvalue_min", bounds_.smallest}, {"eigenvalue_max", bounds_.largest}};
  }

 private:
  static constexpr std::int64_t iterations = 10;

  /// Collective.
  void estimate(const Partition& partition, const Iterate& iterate) {
    const auto own = static_cast<std::int64_t>(partition.own);
    const Vector start("cg/chebyshev start", own), zero("cg/chebyshev guess", own);
    for_rows("cg/chebyshev start", streams_->compute(), own, FillStart{partition.global, start});
    const auto [coefficients, definite] = iterate(start, zero, iterations);
    definite_ = definite;
    if (coefficients.empty()) {
      bounds_ = {diagonal_.gershgorin / 30, diagonal_.gershgorin};
      return;
    }
    bounds_ = ritz_values(coefficients);
    bounds_.largest = std::min(1.1 * bounds_.largest, diagonal_.gershgorin);
    // and where all eigenvalues are the same, these must differ
    bounds_.smallest = std::clamp(bounds_.smallest, bounds_.largest / 40, bounds_.largest / 1.1);
  }

  template <class Row>
  void step(const char* label, const Row& row) {
    const miniapp::ScopedTimer timed(timer_, 0);
    for_rows(label, streams_->compute(), static_cast<std::int64_t>(d_.extent(0)), row);
  }

  stepping::Streams<Space>* streams_;
  miniapp::Timer& timer_;
  Operator product_;
  InverseDiagonal diagonal_;
  std::int64_t degree_;
  GhostedVector z_;
  Vector d_, az_;
  EigenvalueBounds bounds_{1, 2};
  bool definite_ = true;
};

} // namespace

std::unique_ptr<Preconditioner> make_chebyshev(const DistributedMatrix& a, const Execution& run, std::int64_t degree,
                                               const Iterate& iterate) {
  return std::make_unique<Chebyshev>(a, run, degree, iterate);
}

} // namespace kontor::cg
