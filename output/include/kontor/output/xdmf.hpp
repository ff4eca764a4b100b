// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/output/error.hpp>
#include <kontor/output/image.hpp>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace kontor::output {

/// Fields at one time: pairs of the name to show and the dataset's path in the HDF5 file.
struct Snapshot {
  double time = 0;                                            ///< in the run's unit of time
  std::vector<std::pair<std::string, std::string>> cell_data; ///< name to show, path of the dataset
};

/// Where the description of an HDF5 file is looked for: beside it, with the ending .xmf.
std::filesystem::path xdmf_path(const std::filesystem::path& h5);

/// Local. An XDMF description, for the file xdmf_path(h5), of cell data on a uniform mesh: one grid for one
/// snapshot, a temporal collection for several. `dimensions` is 2 for (ny,nx) datasets, shown as one layer of
/// cells, and 3 for (nz,ny,nx); `precision` is 4 or 8, the bytes of a value. Throws Error if there are other
/// numbers, or no snapshot.
std::string xdmf(const std::filesystem::path& h5, const Image& image, int dimensions, int precision,
                 const std::vector<Snapshot>& snapshots);

} // namespace kontor::output
