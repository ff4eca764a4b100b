// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/output/error.hpp>
#include <kontor/output/image.hpp>

#include <filesystem>
#include <string>
#include <vector>

namespace kontor::output {

/// Where the description of an HDF5 file is looked for: beside it, with the ending .xmf.
std::filesystem::path xdmf_path(const std::filesystem::path& h5);

/// Local. An XDMF description, for the file xdmf_path(h5), of fields on a mesh: one time for one snapshot, a
/// temporal collection for several. In 1-D and 2-D values of cells are shown as one layer of cells in 3-D, values of
/// points as one layer of points. Throws Error if there is no snapshot or, there, one has both; or as extents() does.
std::string xdmf(const std::filesystem::path& h5, const Mesh& mesh, const std::vector<Snapshot>& snapshots);

} // namespace kontor::output
