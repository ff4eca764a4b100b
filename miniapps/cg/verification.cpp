// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cg/verification.hpp"

#include "cg/reduce.hpp"
#include "cg/sums.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>

namespace kontor::cg {
namespace {

/// b.b, r.r of r = b - A x, and the sums of |x - exact|^2 and |exact|^2.
struct Compare {
  Vector b, ax, x, exact;
  bool known;
  KOKKOS_FUNCTION SumsOf<4> operator()(std::int64_t i) const {
    SumsOf<4> sums;
    const double residual = b(i) - ax(i);
    sums[0] = b(i) * b(i);
    sums[1] = residual * residual;
    if (known) {
      sums[2] = (x(i) - exact(i)) * (x(i) - exact(i));
      sums[3] = exact(i) * exact(i);
    }
    return sums;
  }
};

} // namespace

miniapp::Verification verify(const comm::Communicator& comm, const LinearSystem& system, Operator& product,
                             stepping::Streams<Space>& streams, const SolverOptions& options,
                             const Outcome& outcome, const Vector& solution) {
  const auto& compute = streams.compute();
  GhostedVector x(comm, system.partition, "cg/solution to verify", streams.exchange());
  Kokkos::deep_copy(compute, x.own(), solution);
  const Vector ax("cg/A x", system.partition.own);
  product.apply(x, ax);
  Sums sums(comm, "norms of the solution", 4, compute);
  for_rows_with_sums<4>(
      "cg/compare", compute, system.partition.own,
      Compare{system.rhs, ax, solution, system.exact.value_or(Vector()), system.exact.has_value()},
      sums_at<4>(sums.local()));
  sums.start(compute);
  sums.finish(compute);
  const auto on_host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), sums.values());
  const double scale = on_host(0) > 0 ? std::sqrt(on_host(0)) : 1;
  const double residual = std::sqrt(on_host(1)) / scale;

  miniapp::Verification result{.measure = "residual b - A x beside b"};
  result.error = residual;
  result.tolerance = options.tolerance > 0 ? 2 * options.tolerance : outcome.residual + 1e-12;
  result.remark = std::string(words(outcome.ending));
  if (system.exact)
    result.remark += fmt::format("; error {:.2e} beside the known solution",
                                 std::sqrt(on_host(2) / (on_host(3) > 0 ? on_host(3) : 1)));
  return result;
}

} // namespace kontor::cg
