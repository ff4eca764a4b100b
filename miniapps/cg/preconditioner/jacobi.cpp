// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cg/preconditioner/diagonal.hpp"
#include "cg/preconditioner/preconditioner.hpp"
#include "stepping/row_sums.hpp"

namespace kontor::cg {
namespace {

struct Scale {
  Vector diagonal, r, z;
  static constexpr Cost cost{.reads = 2, .writes = 1};
  KOKKOS_FUNCTION void operator()(std::int64_t i) const { z(i) = diagonal(i) * r(i); }
};

/// M = D^-1.
class Jacobi final : public Preconditioner {
 public:
  explicit Jacobi(const Workspace& work)
      : streams_(&work.streams), diagonal_(inverse_diagonal(work.comm, work.rows)),
        timer_(work.timers["preconditioner"]) {}

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

std::unique_ptr<Preconditioner> make_jacobi(const Workspace& work) { return std::make_unique<Jacobi>(work); }

} // namespace kontor::cg
