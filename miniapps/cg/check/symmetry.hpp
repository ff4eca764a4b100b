// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "cg/names.hpp"
#include "cg/scale.hpp"
#include "partition/partition.hpp"
#include "random/counter_random.hpp"

#include <kontor/comm/communicator.hpp>
#include <kontor/comm/exact_sum.hpp>

#include <cmath>
#include <cstdint>
#include <functional>
#include <utility>

namespace kontor::cg {

/// Numbers of either sign, of sizes from 0.5 to 1, by the row of the whole matrix.
struct FillAtRandom {
  Kokkos::View<GlobalIndex*> global;
  Vector values;
  std::uint64_t which; ///< of two vectors

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const auto h = random::mix((2 * static_cast<std::uint64_t>(global(i)) + which + 1) * random::step);
    const double size = 0.5 + static_cast<double>(h >> 12) * 0x1p-53;
    values(i) = (h & 1) != 0 ? size : -size;
  }
};

/// Collective. to = B from, for what compute() is given next. `from` has own values and ghosts, `to` own ones.
using Apply = std::function<void(const Vector& from, const Vector& to)>;

/// Collective. |x.B y - y.B x| beside |x| |B y| + |y| |B x|, for two vectors x and y that look random: rounding where B
/// is symmetric. Each row's numbers are the same on any ranks, and so is the result if that of B is. NaN if a number is
/// not finite. `all`, for own rows and ghosts, and `bv`, for own rows, are written to. (The test of HPCG: M. A. Heroux,
/// J. Dongarra, P. Luszczek, HPCG Technical Specification, Sandia report SAND2013-8752, 2013.)
inline double asymmetry(const comm::Communicator& comm, const Partition& partition, const Space& compute,
                        const Vector& all, const Vector& bv, const Apply& apply) {
  enum { x_x, y_y, bx_bx, by_by, x_by, y_bx, count };
  comm::ExactSums<Space> sums(comm, "symmetry", count, compute);
  const Vector v = // ghosts are filled, too: nothing needs to travel
      Kokkos::subview(all, std::pair<LocalIndex, LocalIndex>(0, partition.own));
  const auto fill = [&](std::uint64_t which) {
    Kokkos::parallel_for("cg/random", Policy(compute, 0, static_cast<std::int64_t>(all.extent(0))),
                         FillAtRandom{partition.global, all, which});
  };
  fill(0);
  sums.add_dot(compute, x_x, v, v);
  apply(all, bv);
  const double unit = unit_of(largest_entry(comm, compute, bv)); // another B that is as symmetric
  scale(compute, bv, unit, bv);
  sums.add_dot(compute, bx_bx, bv, bv);
  fill(1);
  sums.add_dot(compute, y_y, v, v);
  sums.add_dot(compute, y_bx, v, bv);
  apply(all, bv);
  scale(compute, bv, unit, bv);
  sums.add_dot(compute, by_by, bv, bv);
  fill(0);
  sums.add_dot(compute, x_by, v, bv);
  sums.start(compute);
  const auto found = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), sums.finish(compute));
  const double difference = std::abs(found(x_by) - found(y_bx));
  if (difference == 0) return 0;
  return difference / (std::sqrt(found(x_x) * found(by_by)) + std::sqrt(found(y_y) * found(bx_bx)));
}

/// The largest that passes: see docs/apps/cg.md.
inline constexpr double symmetry_tolerance = 1e-11;

} // namespace kontor::cg
