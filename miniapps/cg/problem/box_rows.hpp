// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "cg/matrix/matrix_free.hpp"
#include "grid/block.hpp"
#include "grid/field.hpp"
#include "grid/functions.hpp"
#include "partition/partition.hpp"

#include <kontor/comm/communicator.hpp>

#include <Kokkos_Core.hpp>

#include <string>

/// The points of a box as rows of a matrix: each rank has a block of them.
namespace kontor::cg {

/// Three loops, over z, y and x: the last one over what lies side by side in memory.
using BoxPolicy = Kokkos::MDRangePolicy<Space, Kokkos::Rank<3, Kokkos::Iterate::Right, Kokkos::Iterate::Right>>;

/// Local; queues its work on the default instance. body(k, j, i) for so many points along x, y, z.
template <class Extents, class Body>
void for_points(const char* label, const Extents& n, const Body& body) {
  Kokkos::parallel_for(label, BoxPolicy({0, 0, 0}, {n[2], n[1], n[0]}), body);
}

struct BoxRows {
  grid::Block block; ///< of points, with one layer of ghosts
  Partition partition;
};

/// Collective over the Cartesian communicator. Rows in the order of points, x fastest: first those that read no ghosts,
/// then the others. A row reads the points across faces, or, `corners`, all around.
BoxRows make_box_rows(const comm::Communicator& cartesian, const grid::UniformGrid&, bool corners);

/// Local, waits. -1 where the box ends.
PointRows point_rows(const BoxRows&);

/// Local. A block (z, y, x) of own points, without values.
grid::BlockView<double> new_block(const BoxRows&, const std::string& label);

/// Local, waits. Values by row to a block (z, y, x) of points, and back.
void to_block(const BoxRows&, const Vector& by_row, const grid::BlockView<double>& block);
void from_block(const BoxRows&, const grid::BlockView<double>& block, const Vector& by_row);

/// Local, waits. Values of a block of points by row, as a new vector.
Vector by_rows(const BoxRows&, const grid::BlockView<double>& block, const std::string& label);

/// Local, waits. f at own points, by row.
void set_at_points(const BoxRows&, const grid::DeckFunction& f, const Vector& by_row, grid::FiniteCheck&);
Vector values_at_points(const BoxRows&, const grid::DeckFunction& f, const std::string& label, grid::FiniteCheck&);

} // namespace kontor::cg
