// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "grid/functions.hpp"
#include "grid/layers.hpp"
#include "heat/names.hpp"
#include "heat/options.hpp"

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <vector>

namespace kontor::heat {

/// Local, waits for the copy. The ghost cells before a boundary face, from the face's value g or q at time t
/// and the centres of the cells' faces: 2 g (Dirichlet) or h q (Neumann); see Stencil.
template <class T>
void fill_boundary(const FieldView<T>& field, const Block& block, int face, const Face& condition,
                   const grid::DeckFunction& f, double t, grid::FiniteCheck& finite) {
  const auto box = ghost_layer(block, grid::across(face));
  const auto ghosts = grid::view_of(field, block, box);
  const int axis = face / 2;
  const T factor = condition.condition == Condition::neumann ? static_cast<T>(block.spacing[axis]) : T(2);

  const HostBlockView<T> values("heat/boundary", ghosts.extent(0), ghosts.extent(1), ghosts.extent(2));
  const auto on_face = [&](int a, std::int64_t index) {
    return a == axis ? block.face(a, face % 2 == 0 ? 0 : block.extents[a]) : block.coordinate(a, index);
  };
  std::vector<double> x;
  for (auto i = box.begin[0]; i < box.end[0]; ++i) x.push_back(on_face(0, i));
  std::vector<double> of_row(x.size());
  for (auto k = box.begin[2]; k < box.end[2]; ++k) {
    for (auto j = box.begin[1]; j < box.end[1]; ++j) {
      const double y = on_face(1, j);
      const double z = on_face(2, k);
      f.evaluate(x, y, z, t, of_row, finite);
      for (std::size_t i = 0; i < x.size(); ++i)
        values(k - box.begin[2], j - box.begin[1], i) = factor * static_cast<T>(of_row[i]);
    }
  }
  grid::copy_values(ghosts,
                    Kokkos::create_mirror_view_and_copy(typename FieldView<T>::memory_space(), values));
}

} // namespace kontor::heat
