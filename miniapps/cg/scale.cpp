// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cg/scale.hpp"

#include "stepping/row_sums.hpp"

#include <kontor/comm/collectives.hpp>
#include <kontor/device/streams.hpp>

#include <algorithm>
#include <cmath>

namespace kontor::cg {
namespace {

struct TimesFactor {
  Vector to, from;
  double factor;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const { to(i) = factor * from(i); }
};

struct SquareOfEntry {
  Vector values;
  double unit;
  KOKKOS_FUNCTION PartialSums<1> operator()(std::int64_t i) const {
    PartialSums<1> square;
    square[0] = unit * values(i) * (unit * values(i));
    return square;
  }
};

} // namespace

double largest_entry(const comm::Communicator& comm, const Space& instance, const Vector& values) {
  double largest = 0;
  Kokkos::parallel_reduce(
      "cg/largest entry", Policy(instance, 0, static_cast<std::int64_t>(values.extent(0))),
      KOKKOS_LAMBDA(std::int64_t i, double& most) {
        const double size = values(i) < 0 ? -values(i) : values(i);
        if (size > most) most = size;
      },
      Kokkos::Max<double>(largest));
  return comm::allreduce(comm, values.extent(0) > 0 ? largest : 0.0, comm::ReduceOp::max);
}

double unit_of(double size) {
  return size > 0 && std::isfinite(size) ? std::ldexp(1.0, -std::clamp(std::ilogb(size), -1000, 1000)) : 1;
}

void scale(const Space& instance, const Vector& to, double factor, const Vector& from) {
  for_rows("cg/scale", instance, static_cast<std::int64_t>(to.extent(0)), TimesFactor{to, from, factor});
}

double norm(const comm::Communicator& comm, const Space& instance, const Vector& values) {
  const double unit = unit_of(largest_entry(comm, instance, values));
  const Vector sum("cg/norm", 1);
  for_rows_with_sums<1>("cg/norm", instance, static_cast<std::int64_t>(values.extent(0)), SquareOfEntry{values, unit},
                        parts_of_rows(1), StoreTo<1>{sum.data()});
  device::fence(instance, "cg/norm");
  const auto mine = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), sum);
  return std::sqrt(comm::allreduce(comm, mine(0), comm::ReduceOp::sum)) / unit;
}

} // namespace kontor::cg
