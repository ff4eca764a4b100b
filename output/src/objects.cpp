// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Datasets, attributes and groups, from memory.

#include "checksum.hpp"
#include "tree.hpp"

namespace kontor::output {

void write_attribute(hid_t file, const std::string& object, const std::string& name, hid_t type,
                     const std::vector<hsize_t>& extent, const void* data, std::vector<Receipt>& receipts) {
  const std::string what = object + "@" + name;
  const Handle space(extent.empty() ? H5Screate(H5S_SCALAR)
                                    : H5Screate_simple(static_cast<int>(extent.size()), extent.data(), nullptr),
                     H5Sclose, "H5Screate", what);
  const Handle attribute(
      H5Acreate_by_name(file, object.c_str(), name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
      H5Aclose, "H5Acreate_by_name", what);
  check(H5Awrite(attribute, type, data), "H5Awrite", what);
  const auto count = static_cast<std::size_t>(H5Sget_simple_extent_npoints(space));
  receipts.push_back({object, name, {}, copy_type(type), values_checksum(type, count, data)});
}

void write_array(hid_t file, const std::string& name, hid_t type, const std::vector<std::uint64_t>& extent,
                 const void* data, std::vector<Receipt>& receipts) {
  const Handle dataset = create_dataset(file, name, type, extent);
  check(H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data), "H5Dwrite", name);
  const Box whole{std::vector<std::uint64_t>(extent.size(), 0), extent};
  receipts.push_back({name, "", extent, copy_type(type), box_sum(data, H5Tget_size(type), whole, extent)});
}

Handle create_dataset(hid_t file, const std::string& name, hid_t type, const std::vector<std::uint64_t>& extent) {
  const std::vector<hsize_t> counts(extent.begin(), extent.end());
  const Handle space(H5Screate_simple(static_cast<int>(counts.size()), counts.data(), nullptr), H5Sclose,
                     "H5Screate_simple", name);
  make_group(file, name.substr(0, name.rfind('/') + 1));
  const Handle creation = timeless(H5P_DATASET_CREATE);
  check(H5Pset_alloc_time(creation, H5D_ALLOC_TIME_EARLY), "H5Pset_alloc_time", name);
  check(H5Pset_fill_time(creation, H5D_FILL_TIME_NEVER), "H5Pset_fill_time", name);
  return {H5Dcreate2(file, name.c_str(), type, space, H5P_DEFAULT, creation, H5P_DEFAULT), H5Dclose, "H5Dcreate2",
          name};
}

Handle timeless(hid_t creation_class) {
  Handle creation(H5Pcreate(creation_class), H5Pclose, "H5Pcreate", "an object");
  check(H5Pset_obj_track_times(creation, 0), "H5Pset_obj_track_times", "an object");
  return creation;
}

void make_group(hid_t file, const std::string& path) {
  for (std::size_t end = path.find_first_not_of('/'); end != std::string::npos;) {
    end = path.find('/', end);
    const std::string part = path.substr(0, end);
    const htri_t exists = H5Lexists(file, part.c_str(), H5P_DEFAULT);
    check(exists, "H5Lexists", part);
    if (!exists)
      Handle(H5Gcreate2(file, part.c_str(), H5P_DEFAULT, timeless(H5P_GROUP_CREATE), H5P_DEFAULT), H5Gclose,
             "H5Gcreate2", part);
    end = path.find_first_not_of('/', end);
  }
}

} // namespace kontor::output
