// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "stored.hpp"

#include <kontor/output/error.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace kontor::output {

namespace {

/// Throws Error if the values of a dataset are in another file, which HDF5 would read.
void require_here(hid_t file, hid_t dataset, const std::string& name) {
  const Handle creation(H5Dget_create_plist(dataset), H5Pclose, "H5Dget_create_plist", name);
  const auto text = [&](auto call) { // of an unknown length
    std::string text(static_cast<std::size_t>(std::max<ssize_t>(0, call(nullptr, 0))), '\0');
    call(text.data(), text.size() + 1);
    return text;
  };
  const auto file_of = [&](hid_t object) {
    return text([&](char* to, std::size_t size) { return H5Fget_name(object, to, size); });
  };
  bool here = H5Pget_external_count(creation) <= 0 && file_of(dataset) == file_of(file);
  std::size_t sources = 0;
  if (H5Pget_layout(creation) == H5D_VIRTUAL) check(H5Pget_virtual_count(creation, &sources), "its sources", name);
  for (std::size_t n = 0; n < sources && here; ++n)
    here = text([&](char* to, std::size_t size) { return H5Pget_virtual_filename(creation, n, to, size); }) == ".";
  if (!here) throw Error(fmt::format("{} is in another file, which is not read", name), "E-FILE-FORMAT");
}

} // namespace

bool exists(hid_t file, const std::string& object) {
  for (std::size_t end = object.find_first_not_of('/'); end != std::string::npos;) {
    end = object.find('/', end);
    const std::string part = object.substr(0, end);
    if (H5Lexists(file, part.c_str(), H5P_DEFAULT) <= 0) return false;
    H5L_info_t link;
    check(H5Lget_info(file, part.c_str(), &link, H5P_DEFAULT), "H5Lget_info", part);
    if (link.type != H5L_TYPE_HARD && link.type != H5L_TYPE_SOFT)
      throw Error(fmt::format("{} is in another file, which is not read", part), "E-FILE-FORMAT");
    if (H5Oexists_by_name(file, part.c_str(), H5P_DEFAULT) <= 0) return false;
    end = object.find_first_not_of('/', end);
  }
  return !object.empty();
}

Handle open_dataset(hid_t file, const std::string& name) {
  if (!exists(file, name)) throw Error(fmt::format("there is no object {}; h5ls -r lists those of the file", name));
  Handle object(H5Oopen(file, name.c_str(), H5P_DEFAULT), H5Oclose, "H5Oopen", name);
  const auto kind = H5Iget_type(object);
  if (kind != H5I_DATASET)
    throw Error(fmt::format("{} is a {}, not a dataset", name, kind == H5I_GROUP ? "group" : "type"));
  require_here(file, object, name);
  return object;
}

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

std::string name_of_type(hid_t type) {
  const std::size_t bits = 8 * H5Tget_size(type);
  switch (H5Tget_class(type)) {
  case H5T_FLOAT: return fmt::format("float{}", bits);
  case H5T_INTEGER: return fmt::format("{}int{}", H5Tget_sign(type) == H5T_SGN_NONE ? "u" : "", bits);
  case H5T_STRING: return "string";
  default: return "other";
  }
}

std::string stored_text(hid_t file, const std::string& name) {
  const Handle dataset = open_dataset(file, name);
  const Handle type(H5Dget_type(dataset), H5Tclose, "H5Dget_type", name);
  if (name_of_type(type) != "string" || H5Tis_variable_str(type) > 0 || !extents_of(dataset, name).empty())
    throw Error(fmt::format("{} is no text of a fixed length", name), "E-FILE-FORMAT");
  std::string text(H5Tget_size(type), '\0');
  check(H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, text.data()), "H5Dread", name);
  return text;
}

} // namespace kontor::output
