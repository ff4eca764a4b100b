// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "objects.hpp"

#include <kontor/output/error.hpp>

namespace kontor::output {

namespace {

Handle space_of(const std::vector<hsize_t>& extent, const std::string& what) {
  return {extent.empty() ? H5Screate(H5S_SCALAR)
                         : H5Screate_simple(static_cast<int>(extent.size()), extent.data(), nullptr),
          H5Sclose, "H5Screate", what};
}

} // namespace

Handle string_type(std::size_t bytes, H5T_cset_t characters) {
  Handle type(H5Tcopy(H5T_C_S1), H5Tclose, "H5Tcopy", "a string type");
  check(H5Tset_size(type, bytes), "H5Tset_size", "a string type");
  check(H5Tset_strpad(type, H5T_STR_NULLPAD), "H5Tset_strpad", "a string type");
  check(H5Tset_cset(type, characters), "H5Tset_cset", "a string type");
  return type;
}

void write_text(hid_t file, const std::string& name, const std::string& text) {
  write_array(file, name, string_type(text.size(), H5T_CSET_UTF8), {}, text.data());
}

void write_attribute(hid_t file, const std::string& object, const std::string& name, hid_t type,
                     const std::vector<hsize_t>& extent, const void* data) {
  const std::string what = object + "@" + name;
  const Handle space = space_of(extent, what);
  const Handle attribute(
      H5Acreate_by_name(file, object.c_str(), name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
      H5Aclose, "H5Acreate_by_name", what);
  check(H5Awrite(attribute, type, data), "H5Awrite", what);
}

void write_array(hid_t file, const std::string& name, hid_t type, const std::vector<std::uint64_t>& extent,
                 const void* data) {
  const Handle dataset = create_dataset(file, name, type, extent);
  check(H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data), "H5Dwrite", name);
}

Handle create_dataset(hid_t file, const std::string& name, hid_t type, const std::vector<std::uint64_t>& extent) {
  const std::vector<hsize_t> counts(extent.begin(), extent.end());
  const Handle space = space_of(counts, name);
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
