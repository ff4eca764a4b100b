// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "hdf5.hpp"

#include <kontor/output/error.hpp>
#include <kontor/output/values_at.hpp>

namespace kontor::output {

std::vector<double> values_at(const std::filesystem::path& path, const std::string& name,
                              const std::vector<std::vector<std::uint64_t>>& indices) {
  const Handle file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose, "H5Fopen", path.string());
  const Handle dataset(H5Dopen2(file, name.c_str(), H5P_DEFAULT), H5Dclose, "H5Dopen2", name);
  const Handle space(H5Dget_space(dataset), H5Sclose, "H5Dget_space", name);
  const auto rank = static_cast<std::size_t>(H5Sget_simple_extent_ndims(space));
  std::vector<hsize_t> points;
  for (const auto& index : indices) {
    if (index.size() != rank) throw Error(name + " has another number of dimensions than the field");
    points.insert(points.end(), index.begin(), index.end());
  }
  std::vector<double> values(indices.size());
  if (values.empty()) return values;
  check(H5Sselect_elements(space, H5S_SELECT_SET, values.size(), points.data()), "H5Sselect_elements", name);
  if (H5Sselect_valid(space) <= 0) throw Error(name + " is smaller than the field");
  const hsize_t count = values.size();
  const Handle memory(H5Screate_simple(1, &count, nullptr), H5Sclose, "H5Screate_simple", name);
  check(H5Dread(dataset, H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT, values.data()), "H5Dread", name);
  return values;
}

} // namespace kontor::output
