// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cg/solver/method.hpp"

#include "cg/scale.hpp"
#include "machine/first_touch.hpp"
#include "machine/huge_pages.hpp"

#include <cmath>

namespace kontor::cg {

CgState::CgState(const Workspace& given, const std::string& label, const Vector& own_and_ghosts)
    : work(given), ghosted(work.comm, work.partition, label, work.streams.exchange(), own_and_ghosts),
      product(work, work), x(vector("x")), log(work.as_on_device ? ResidualLog::most_at_once : 1),
      numbers("cg/numbers"), unit(choose_unit()), b(scaled(unit, work.rhs)), guess(scaled(unit, work.initial)),
      fused(work.options.sums == SumKind::any_order), vectors(work.timers["vectors"]),
      post(work.timers.communication("sums_post")), wait(work.timers.communication("sums_wait")) {
  if (ghosted.exchange().timed_methods().size() > 1)
    chosen_comm.emplace(work.comm.native(), ghosted.exchange().chosen());
}

Vector CgState::vector(const std::string& label, bool needed) const {
  if (!needed) return {};
  const Vector values = miniapp::zeroed<double>("cg/" + label, static_cast<std::size_t>(own()));
  miniapp::use_huge_pages(values);
  return values;
}

/// Collective; spoils the vectors. 1 unless entries of b or row sums of A are so small or large that squares could
/// leave the range. Then r.r and p.A p are about as far from 1 as each other, without M or with one that is like A^-1.
double CgState::choose_unit() {
  Kokkos::deep_copy(ghosted.all(), 1.0);
  work.matrix.multiply(compute(), Part::all, ghosted.all(), x);
  const double b = largest_entry(work.comm, compute(), work.rhs), a = largest_entry(work.comm, compute(), x);
  const auto usual = [](double size) { return std::abs(std::ilogb(unit_of(size))) <= 80; };
  if (usual(b) && usual(a)) return 1;
  const int quarter = std::ilogb(unit_of(a)) / 4;
  return std::ldexp(unit_of(b), work.options.preconditioner == PreconditionerKind::none ? quarter : -quarter);
}

Vector CgState::scaled(double factor, const Vector& from) const {
  if (factor == 1) return from;
  const Vector to("cg/scaled", from.extent(0));
  scale(compute(), to, factor, from);
  device::fence(compute(), "cg/scaled");
  return to;
}

void CgState::start(GlobalDots& sums) const {
  const miniapp::ScopedTimer timed(post);
  sums.start(compute());
}

void CgState::finish(GlobalDots& sums) const {
  const miniapp::ScopedTimer timed(wait);
  sums.finish(compute());
}

void CgState::multiply(const Vector& v, const Vector& y) {
  if (v.data() != ghosted.own().data()) Kokkos::deep_copy(compute(), ghosted.own(), v);
  product.apply(ghosted, y);
}

} // namespace kontor::cg
