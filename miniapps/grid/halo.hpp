// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "grid/field.hpp"
#include "grid/layers.hpp"

#include <kontor/comm/exchange.hpp>

/// The halo of a field: each rank's outermost own layers into its neighbours' ghosts.
namespace kontor::grid {

template <class T>
using Halo = comm::Exchange<FieldView<T>>;

/// What a rank sends in one direction, and what arrives in return from the opposite one.
struct HaloSlot {
  Box sent;
  int destination; ///< no_rank where the grid ends, like the source
  Box received;
  int source;
};

/// Local. One slot a direction, the same on all ranks; without ranks where wrap() copies. Throws std::invalid_argument,
/// on all ranks, if some rank's block has fewer layers along an axis that is exchanged than there are ghosts.
std::vector<HaloSlot> halo_slots(const comm::Communicator& cartesian, const Block&, const std::vector<Direction>&);

/// Collective over `comm`, which numbers its ranks as the Cartesian one of the slots. The halo of one field, committed,
/// on `instance`. Two fields that take turns have a HaloPair.
template <class T>
Halo<T> make_halo(const comm::Communicator& comm, const std::vector<HaloSlot>& slots, const Block& block,
                  const FieldView<T>& field, const std::string& label,
                  const typename Halo<T>::execution_space& instance = {}) {
  Halo<T> halo(comm, label, instance);
  for (const auto& slot : slots)
    halo.add(view_of(field, block, slot.sent), slot.destination, view_of(field, block, slot.received), slot.source);
  halo.commit();
  return halo;
}

} // namespace kontor::grid
