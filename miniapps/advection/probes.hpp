// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "grid/field.hpp"

#include <kontor/comm/communicator.hpp>
#include <kontor/comm/exchange.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <vector>

/// Cells anywhere that a rank wants to see the values of, whoever owns them.
namespace kontor::advection {

using Gathering = comm::Exchange<grid::FieldView<double>>;
using Rows = Kokkos::View<std::int64_t*, Kokkos::HostSpace>;

/// Local. So many cells of a ring, the same on every machine for the same seed and rank; some may be equal.
std::vector<std::int64_t> random_cells(std::int64_t count, std::int64_t cells, std::int64_t seed, int rank);

/// Who wants which values of whom. Made once; any number of fields can then be gathered.
class Probes {
 public:
  /// Collective over `ring`, whose ranks have the cells in their order. `wanted`: this rank's, which need not
  /// be in order.
  Probes(const comm::Communicator& ring, const grid::Block& block, const std::vector<std::int64_t>& wanted);

  /// Collective. The exchange that brings the wanted values of a field into `values`, in the order of
  /// `wanted`; committed.
  Gathering gathering(const comm::Communicator& ring, const grid::Block& block,
                      const grid::FieldView<double>& field, const Kokkos::View<double*>& values) const;

 private:
  Rows asked_;                               ///< own cells that others want, by who wants them
  std::vector<std::int64_t> asked_offsets_;  ///< where each rank's begin
  Rows places_;                              ///< of what comes, by owner
  std::vector<std::int64_t> places_offsets_; ///< where each owner's begin
};

} // namespace kontor::advection
