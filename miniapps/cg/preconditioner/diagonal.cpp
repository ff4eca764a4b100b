// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cg/preconditioner/diagonal.hpp"

#include "machine/first_touch.hpp"

#include <kontor/comm/collectives.hpp>

namespace kontor::cg {
namespace {

/// Leaves 1 / a_ii, and finds the largest sum |a_ij| / a_ii. A diagonal that is not above 0, or not there, makes it
/// infinite.
struct InvertDiagonal {
  CompressedRows a;
  Vector inverse;
  KOKKOS_FUNCTION void operator()(std::int64_t row, double& largest) const {
    double diagonal = 0;
    double sum = 0;
    for (auto e = a.offsets(row); e < a.offsets(row + 1); ++e) {
      const double value = a.values(e);
      if (a.columns(e) == row) diagonal = value;
      sum += value < 0 ? -value : value;
    }
    inverse(row) = diagonal != 0 ? 1 / diagonal : 0;
    const double bound = diagonal > 0 ? sum / diagonal : Kokkos::reduction_identity<double>::min();
    if (!(bound <= largest)) largest = bound;
  }
};

} // namespace

InverseDiagonal inverse_diagonal(const comm::Communicator& comm, const CompressedRows& rows) {
  InverseDiagonal result;
  result.values = miniapp::zeroed<double>("cg/inverse diagonal", static_cast<std::size_t>(rows.rows()));
  double largest = 0;
  Kokkos::parallel_reduce("cg/inverse diagonal", Policy(0, rows.rows()), InvertDiagonal{rows, result.values},
                          Kokkos::Max<double>(largest));
  if (rows.rows() == 0) largest = 0;
  result.gershgorin = comm::allreduce(comm, largest, comm::ReduceOp::max);
  result.positive = result.gershgorin < Kokkos::reduction_identity<double>::min();
  return result;
}

} // namespace kontor::cg
