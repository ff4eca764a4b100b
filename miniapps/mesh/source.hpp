// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "element/plain_hexahedron.hpp"
#include "mesh/directory.hpp"
#include "mesh/options.hpp"

/// Where a mesh comes from: a box, or a file. Either gives each rank a share of its elements and nodes by number.
namespace kontor::mesh {

using element::CornerPoints, element::Point;

struct Element {
  GlobalIndex number;
  std::array<GlobalIndex, 8> corner; ///< nodes: 0 to 3 around a face, 4 to 7 across from them
};

struct NodePlace {
  Point place;
  bool held; ///< on a face that is held
};

/// The shares of this rank in the two directories.
struct MeshShare {
  Directory elements, nodes;
  std::vector<Element> element;
  std::vector<NodePlace> node;
};

/// Collective. The box of the options, bent by problem.map and numbered by problem.numbering. Throws config::Error if a
/// formula is not finite.
MeshShare share_of_box(const Options&, const comm::Communicator&);

/// Local. The rank that has an element of the box by the process grid.
int rank_in_process_grid(const Options&, GlobalIndex element);

/// Collective. A mesh file: coordinates (nodes x 3) and connectivity (elements x 8). A node is held if it lies on that
/// side of the box around all nodes, or nearer than 1 % of its shortest edge. Throws config::Error if the file cannot
/// be read, or if corners are no nodes, or not 8 different ones.
MeshShare read_share(const Options&, const comm::Communicator&);

/// Collective. Coordinates of the corners of elements.
std::vector<CornerPoints> corner_places(const comm::Communicator&, const MeshShare&, const std::vector<Element>&);

} // namespace kontor::mesh
