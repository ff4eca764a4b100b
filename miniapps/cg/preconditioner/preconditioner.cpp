// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cg/preconditioner/preconditioner.hpp"

#include "machine/first_touch.hpp"
#include "stepping/row_sums.hpp"

#include <kontor/comm/collectives.hpp>

namespace kontor::cg {

InverseDiagonal inverse_diagonal(const comm::Communicator& comm, const CompressedRows& a) {
  const auto inverse = miniapp::zeroed<double>("cg/inverse diagonal", static_cast<std::size_t>(a.rows()));
  InverseDiagonal result{.values = inverse};
  double largest = 0;
  // Of the sums |a_ij| / a_ii. A diagonal that is not above 0, or not there, makes it infinite.
  Kokkos::parallel_reduce(
      "cg/inverse diagonal", Policy(0, a.rows()),
      KOKKOS_LAMBDA(std::int64_t row, double& most) {
        double diagonal = 0;
        double sum = 0;
        for (auto e = a.offsets(row); e < a.offsets(row + 1); ++e) {
          const double value = a.values(e);
          if (a.columns(e) == row) diagonal = value;
          sum += value < 0 ? -value : value;
        }
        inverse(row) = diagonal != 0 ? 1 / diagonal : 0;
        const double bound = diagonal > 0 ? sum / diagonal : Kokkos::reduction_identity<double>::min();
        if (!(bound <= most)) most = bound;
      },
      Kokkos::Max<double>(largest));
  if (a.rows() == 0) largest = 0;
  result.gershgorin = comm::allreduce(comm, largest, comm::ReduceOp::max);
  result.positive = result.gershgorin < Kokkos::reduction_identity<double>::min();
  return result;
}

namespace {

struct Scale {
  Vector diagonal, r, z;
  static constexpr Cost cost{.reads = 2, .writes = 1};
  KOKKOS_FUNCTION void operator()(std::int64_t i) const { z(i) = diagonal(i) * r(i); }
};

/// M = D^-1.
class Jacobi final : public Preconditioner {
 public:
  Jacobi(const DistributedMatrix& a, const Execution& run)
      : streams_(&run.streams), diagonal_(inverse_diagonal(a.comm, a.rows)), timer_(run.timers["preconditioner"]) {}

  void apply(const Vector& r, const Vector& z) override {
    const miniapp::ScopedTimer timed(timer_);
    for_rows("cg/jacobi", streams_->compute(), static_cast<std::int64_t>(diagonal_.values.extent(0)),
             Scale{diagonal_.values, r, z});
  }
  Cost cost() const override { return Scale::cost; }
  const Vector* diagonal() const override { return &diagonal_.values; }
  bool definite() const override { return diagonal_.positive; }

 private:
  stepping::Streams<Space>* streams_;
  InverseDiagonal diagonal_;
  miniapp::Timer& timer_;
};

} // namespace

std::unique_ptr<Preconditioner> make_preconditioner(const DistributedMatrix& a, const Execution& run,
                                                    const SolverOptions& options, const Iterate& iterate) {
  switch (options.preconditioner) {
  case PreconditionerKind::jacobi: return std::make_unique<Jacobi>(a, run);
  case PreconditionerKind::chebyshev: return make_chebyshev(a, run, options.chebyshev_degree, iterate);
  case PreconditionerKind::gauss_seidel: return make_gauss_seidel(a, run);
  case PreconditionerKind::none: break;
  }
  return nullptr;
}

} // namespace kontor::cg
