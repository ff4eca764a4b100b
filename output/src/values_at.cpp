// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "stored.hpp"

#include <kontor/output/error.hpp>
#include <kontor/output/values_at.hpp>

#include <algorithm>

namespace kontor::output {

std::vector<double> values_at(const std::filesystem::path& path, const std::string& name,
                              const std::vector<std::vector<std::uint64_t>>& indices) {
  const Handle file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose, "H5Fopen", path.string());
  const Handle dataset(H5Dopen2(file, name.c_str(), H5P_DEFAULT), H5Dclose, "H5Dopen2", name);
  const Extents extents = extents_of(dataset, name);
  std::vector<double> values(indices.size());
  for (std::size_t n = 0; n < values.size(); ++n) {
    const Extents& index = indices[n];
    if (index.size() != extents.size()) throw Error(name + " has another number of dimensions than the field");
    if (!std::ranges::equal(index, extents, std::less())) throw Error(name + " is smaller than the field");
    read_box(dataset, name, {index, Extents(index.size(), 1)}, H5T_NATIVE_DOUBLE, &values[n]);
  }
  return values;
}

} // namespace kontor::output
