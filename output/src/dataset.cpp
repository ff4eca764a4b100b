// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dataset.hpp"

namespace kontor::output {

void read_box(hid_t dataset, const std::string& name, const Box& box, hid_t type, void* data) {
  const Handle space(H5Dget_space(dataset), H5Sclose, "H5Dget_space", name);
  const std::vector<hsize_t> start(box.offset.begin(), box.offset.end()), count(box.extent.begin(), box.extent.end());
  check(H5Sselect_hyperslab(space, H5S_SELECT_SET, start.data(), nullptr, count.data(), nullptr), "H5Sselect_hyperslab",
        name);
  const hsize_t all = elements(box.extent);
  const Handle memory(H5Screate_simple(1, &all, nullptr), H5Sclose, "H5Screate_simple", name);
  check(H5Dread(dataset, type, memory, space, H5P_DEFAULT, data), "H5Dread", name);
}

Extents extents_of(hid_t dataset, const std::string& name) {
  const Handle space(H5Dget_space(dataset), H5Sclose, "H5Dget_space", name);
  const int rank = H5Sget_simple_extent_ndims(space);
  check(rank, "H5Sget_simple_extent_ndims", name);
  std::vector<hsize_t> result(rank);
  check(H5Sget_simple_extent_dims(space, result.data(), nullptr), "H5Sget_simple_extent_dims", name);
  return {result.begin(), result.end()};
}

} // namespace kontor::output
