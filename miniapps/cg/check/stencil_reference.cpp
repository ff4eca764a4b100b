// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cg/check/reference_rows.hpp"

#include <kontor/config/function.hpp>

#include <cmath>
#include <cstdlib>
#include <numbers>

namespace kontor::cg {

ReferenceRows stencil_reference(const StencilOptions& o, const Partition& partition) {
  const auto global = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), partition.global);
  const config::Function exact(o.exact);
  const auto& n = o.points;
  ReferenceRows reference;
  for (GlobalIndex r = 0; r < partition.own; r += reference_stride(partition.own)) {
    const auto row = global(r);
    double rhs = 0, size = 0;
    const auto entry = [&](std::int64_t x, std::int64_t y, std::int64_t z, double value) {
      if (x < 0 || y < 0 || z < 0 || x >= n[0] || y >= n[1] || z >= n[2]) return;
      reference.add_entry((z * n[1] + y) * n[0] + x, value);
      const double term = value * exact(static_cast<double>(x), static_cast<double>(y), static_cast<double>(z), 0);
      rhs += term;
      size += std::abs(term);
    };
    const auto x = row % n[0], y = row / n[0] % n[1], z = row / n[0] / n[1];
    if (o.size == 7) {
      entry(x, y, z, 6);
      for (const int d : {-1, 1}) {
        entry(x + d, y, z, -1);
        entry(x, y + d, z, -1);
        entry(x, y, z + d, -1);
      }
    } else {
      entry(x, y, z, 27); // the point itself is among the 27 below
      for (int d = 0; d < 27; ++d) entry(x + d % 3 - 1, y + d / 3 % 3 - 1, z + d / 9 - 1, -1);
    }
    reference.add_row(row, rhs, size);
  }
  return reference;
}

double least_eigenvalue(const StencilOptions& o) {
  double sum = 0, product = 1;
  for (const auto points : o.points) {
    const double sine = std::sin(std::numbers::pi / (2 * static_cast<double>(points + 1)));
    sum += 4 * sine * sine;         // 2 - 2 cos t
    product *= 3 - 4 * sine * sine; // 1 + 2 cos t
  }
  return o.size == 7 ? sum : 27 - product;
}

} // namespace kontor::cg
