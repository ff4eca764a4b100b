// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/output/block.hpp>

#include <array>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace kontor::output {

/// A uniform mesh of a box, of 1 to 3 dimensions, as visualisation programs see it.
struct Image {
  int dimensions = 3;                          ///< 1 to 3
  std::array<std::uint64_t, 3> cells{1, 1, 1}; ///< nx, ny, nz; 1 beyond the dimensions
  std::array<double, 3> origin{0, 0, 0};       ///< the corner of the first cell, which is the first point
  std::array<double, 3> spacing{1, 1, 1};      ///< the size of a cell: dx, dy, dz
};

/// A mesh of hexahedra, whose corners 0 to 3 go around a face and 4 to 7 lie across from them.
struct Hexahedra {
  std::uint64_t points = 0; ///< nodes
  std::uint64_t cells = 0;  ///< elements
  std::string coordinates;  ///< dataset of the file: points x 3
  std::string connectivity; ///< dataset of the file: cells x 8, points from 0
};

/// What fields are on.
using Mesh = std::variant<Image, Hexahedra>;

/// What values belong to: the points of a mesh, nx + 1 along x, or its cells, nx.
enum class Centering { cells, points };

/// A dataset of values on a mesh.
struct MeshField {
  std::string name;                       ///< that is shown
  std::string dataset;                    ///< its path in the HDF5 file
  Scalar scalar = Scalar::float64;        ///< of its values
  Centering centering = Centering::cells; ///< what they belong to
  std::uint64_t components = 1;           ///< numbers each; of hexahedra also 3, a vector, or 9, a tensor row by row
};

/// The fields at one time of a run.
struct Snapshot {
  double time = 0;               ///< in the run's unit of time
  std::vector<MeshField> fields; ///< all on one mesh
};

/// Local. The spacing that is shown: beyond the dimensions the least width of a cell.
std::array<double, 3> shown_spacing(const Image&);

/// Local. Where the VTKHDF layout has a field.
std::string vtkhdf_path(const MeshField&);

/// Local. Where the last of so many snapshots has an element of a field there.
std::vector<std::uint64_t> vtkhdf_index(const Mesh&, const MeshField&, std::vector<std::uint64_t> index,
                                        std::uint64_t snapshots);

/// Local. The extents of a dataset of such values: (nx), (ny, nx) or (nz, ny, nx), each one more for points. Throws
/// Error if the mesh does not have 1 to 3 dimensions, or more than one layer of cells beyond them.
std::vector<std::uint64_t> extents(const Image&, Centering);

/// Local. The extents of the dataset of a field on a mesh. Throws Error as above.
std::vector<std::uint64_t> extents(const Mesh&, const MeshField&);

} // namespace kontor::output
