// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "heat/field.hpp"

#include <kontor/comm/exchange.hpp>

#include <string>

namespace kontor::heat {

template <class T>
using Halo = comm::Exchange<FieldView<T>>;

/// Collective over `cartesian`. The halo of one field: each rank's outermost own layers to its neighbours'
/// ghost cells, on `instance`. Edges and corners are left out, since the stencil does not read them.
template <class T>
Halo<T> make_halo(const comm::Communicator& cartesian, const Block& block, const FieldView<T>& field,
                  const std::string& label, const typename Halo<T>::execution_space& instance = {}) {
  Halo<T> halo(cartesian, label, instance);
  for (int axis = 0; axis < block.dimensions; ++axis) {
    for (const int down : {0, 1}) {
      const int towards = 2 * axis + 1 - down; // the face whose layer is sent
      const int from = 2 * axis + down;        // the opposite face, whose ghost cells receive
      halo.add(cells_of(field, block, face_layer(block, towards, false)), block.neighbours[towards],
               cells_of(field, block, face_layer(block, from, true)), block.neighbours[from]);
    }
  }
  halo.commit();
  halo.measure_times();
  return halo;
}

} // namespace kontor::heat
