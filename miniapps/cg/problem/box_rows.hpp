// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "cg/names.hpp"
#include "grid/block.hpp"
#include "grid/field.hpp"
#include "grid/functions.hpp"
#include "partition/partition.hpp"
#include "run/mini_app.hpp"

#include <kontor/comm/communicator.hpp>
#include <kontor/output/file.hpp>
#include <kontor/output/reader.hpp>

#include <Kokkos_Core.hpp>

#include <string>
#include <vector>

/// The points of a box as rows of a matrix: each rank has a block of them.
namespace kontor::cg {

/// Local numbers of the points of a block and of the layer around it: (z + 1, y + 1, x + 1) of block indices;
/// -1 where the box ends.
using PointRows = Kokkos::View<LocalIndex***, Kokkos::LayoutRight>;

struct BoxRows {
  grid::Block block; ///< of points, with one layer of ghosts
  Partition partition;
  PointRows rows;
};

/// Collective over the Cartesian communicator. Rows in the order of points, x fastest: first those that read
/// no ghosts, then the others. A row reads the points across faces, or, `corners`, all around.
BoxRows make_box_rows(const comm::Communicator& cartesian, const grid::UniformGrid&, bool corners);

/// Local, waits. Values by row as a block (z, y, x) of points.
grid::BlockView<double> as_block(const BoxRows&, const Vector& values);

/// Local, waits. Values of a block of points by row.
Vector by_rows(const BoxRows&, const grid::BlockView<double>& block, const std::string& label);

/// Local, waits. f at own points, by row.
Vector values_at_points(const BoxRows&, const grid::DeckFunction& f, const std::string& label,
                        grid::FiniteCheck&);

/// Collective. Values at the points as a dataset (z, y, x) of all points, and back; the latter waits.
void write_rows(output::File&, const BoxRows&, const std::string& dataset, const Vector& values);
void read_rows(const output::Reader&, const BoxRows&, const std::string& dataset, const Vector& values);

/// Collective. Writes <group>/<name> at the points, and describes the mesh.
miniapp::FieldOutput write_points(output::File&, const BoxRows&, const std::string& group,
                                  const std::string& name, const Vector&);

} // namespace kontor::cg
