// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "stored.hpp"

#include <kontor/output/error.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace kontor::output {

namespace {

/// An object of any kind.
Handle open_object(hid_t file, const std::string& path) {
  if (!exists(file, path)) throw Error(fmt::format("there is no object {}{}", path, present(file, path)));
  return {H5Oopen(file, path.c_str(), H5P_DEFAULT), H5Oclose, "H5Oopen", path};
}

const char* kind_of(hid_t object) {
  switch (H5Iget_type(object)) {
  case H5I_GROUP: return "group";
  case H5I_DATASET: return "dataset";
  default: return "type";
  }
}

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

/// In alphabetical order.
std::vector<std::string> member_names(hid_t file, const std::string& group) {
  const Handle object = open_object(file, group);
  if (H5Iget_type(object) != H5I_GROUP) throw Error(fmt::format("{} is a {}, not a group", group, kind_of(object)));
  H5G_info_t info;
  check(H5Gget_info(object, &info), "H5Gget_info", group);
  std::vector<std::string> names;
  for (hsize_t n = 0; n < info.nlinks; ++n) {
    const auto name = [&](char* text, std::size_t size) {
      const ssize_t length = H5Lget_name_by_idx(object, ".", H5_INDEX_NAME, H5_ITER_INC, n, text, size, H5P_DEFAULT);
      check(length, "H5Lget_name_by_idx", group);
      return static_cast<std::size_t>(length);
    };
    std::string text(name(nullptr, 0), '\0');
    name(text.data(), text.size() + 1);
    names.push_back(std::move(text));
  }
  return names;
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

std::string present(hid_t file, const std::string& object) {
  std::string group = object;
  do {
    const std::size_t slash = group.find_last_of('/');
    group = slash == std::string::npos || slash == 0 ? "/" : group.substr(0, slash);
  } while (group != "/" && !exists(file, group));
  try {
    auto names = member_names(file, group);
    const std::size_t most = 12;
    if (names.size() > most) {
      names.resize(most);
      names.emplace_back("...");
    }
    return fmt::format("; {} has {}", group, names.empty() ? "no members" : fmt::format("{}", fmt::join(names, ", ")));
  } catch (const Error&) { // it is a dataset, or damaged
    return fmt::format("; {} is the last on its path that exists", group);
  }
}

Handle open_dataset(hid_t file, const std::string& name) {
  Handle object = open_object(file, name);
  if (H5Iget_type(object) != H5I_DATASET)
    throw Error(fmt::format("{} is a {}, not a dataset{}", name, kind_of(object), present(file, name + "/")));
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
