// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "stored.hpp"

#include <kontor/output/error.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

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

/// Throws Error where a link or the values of a dataset lead to another file, which HDF5 would read.
void require_here(hid_t file, const std::string& path) {
  H5L_info_t link;
  check(H5Lget_info(file, path.c_str(), &link, H5P_DEFAULT), "H5Lget_info", path);
  bool here = link.type == H5L_TYPE_HARD || link.type == H5L_TYPE_SOFT;
  const Handle object = here ? open_object(file, path) : Handle();
  if (here && H5Iget_type(object) == H5I_DATASET) {
    const Handle creation(H5Dget_create_plist(object), H5Pclose, "H5Dget_create_plist", path);
    here = H5Pget_external_count(creation) <= 0 && H5Pget_layout(creation) != H5D_VIRTUAL;
  }
  if (!here) throw Error(fmt::format("{} is in another file, which is not read", path), "E-FILE-FORMAT");
}

} // namespace

bool exists(hid_t file, const std::string& object) {
  for (std::size_t end = object.find_first_not_of('/'); end != std::string::npos;) {
    end = object.find('/', end);
    const std::string part = object.substr(0, end);
    if (H5Lexists(file, part.c_str(), H5P_DEFAULT) <= 0 || H5Oexists_by_name(file, part.c_str(), H5P_DEFAULT) <= 0)
      return false;
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
  return object;
}

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

Json stored_attributes(hid_t file, const std::string& object) {
  const Handle open = open_object(file, object);
  std::vector<std::string> names;
  const auto add = [](hid_t, const char* name, const H5A_info_t*, void* to) -> herr_t {
    static_cast<std::vector<std::string>*>(to)->emplace_back(name);
    return 0;
  };
  check(H5Aiterate2(open, H5_INDEX_NAME, H5_ITER_INC, nullptr, add, &names), "H5Aiterate2", object);
  Json values = Json::object();
  for (const std::string& name : names) values[name] = attribute_values(open, object, name);
  return values;
}

Json stored_group(hid_t file, const std::string& group, bool all) {
  Json tree = stored_attributes(file, group);
  for (const std::string& name : member_names(file, group)) {
    const std::string path = (group == "/" ? "" : group) + "/" + name;
    require_here(file, path);
    const Handle object = open_object(file, path);
    if (H5Iget_type(object) == H5I_GROUP)
      tree[name] = stored_group(file, path, all);
    else if (H5Iget_type(object) == H5I_DATASET && (all || extents_of(object, path).size() <= 1))
      tree[name] = dataset_values(object, path);
  }
  return tree;
}

} // namespace kontor::output
