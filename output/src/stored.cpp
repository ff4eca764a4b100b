// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "stored.hpp"

#include <kontor/output/error.hpp>
#include <kontor/output/file.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace kontor::output {

namespace {

constexpr int deepest = 64; // groups may hold themselves

/// The object in another file that a link to there stands for, in words.
std::string target(hid_t group, const std::string& name, std::size_t bytes) {
  std::string value(bytes, '\0');
  const char *other = nullptr, *there = nullptr;
  check(H5Lget_val(group, name.c_str(), value.data(), bytes, H5P_DEFAULT), "H5Lget_val", name);
  check(H5Lunpack_elink_val(value.data(), bytes, nullptr, &other, &there), "H5Lunpack_elink_val", name);
  return fmt::format("{} of the file {}", there, other);
}

/// The object of a path, which is followed link by link within this file; empty: there is none. `elsewhere`: where a
/// link leads out of the file, in words.
Handle find(hid_t file, const std::string& path, std::string& elsewhere) {
  if (path.empty()) return {};
  Handle object(H5Oopen(file, "/", H5P_DEFAULT), H5Oclose, "H5Oopen", "/");
  for (std::size_t begin = 0, end = 0; (begin = path.find_first_not_of('/', end)) != std::string::npos;) {
    end = path.find('/', begin);
    const std::string name = path.substr(begin, end - begin);
    H5L_info_t link;
    if (H5Lexists(object, name.c_str(), H5P_DEFAULT) <= 0 || H5Lget_info(object, name.c_str(), &link, H5P_DEFAULT) < 0)
      return {};
    if (link.type == H5L_TYPE_EXTERNAL) {
      elsewhere = target(object, name, link.u.val_size);
      return {};
    }
    if (H5Oexists_by_name(object, name.c_str(), H5P_DEFAULT) <= 0) return {};
    const hid_t next = H5Oopen(object, name.c_str(), H5P_DEFAULT);
    if (next < 0 && end != std::string::npos) return {};
    object = Handle(next, H5Oclose, "H5Oopen", path);
  }
  return object;
}

/// An object of any kind.
Handle open_object(hid_t file, const std::string& path) {
  std::string elsewhere;
  Handle object = find(file, path, elsewhere);
  if (!elsewhere.empty())
    throw Error(
        fmt::format("{} is a link to {}, which is not read: copy it into this one (h5copy does)", path, elsewhere));
  if (object < 0) throw Error(fmt::format("there is no object {}{}", path, present(file, path)));
  return object;
}

const char* kind_of(hid_t object) {
  switch (H5Iget_type(object)) {
  case H5I_GROUP: return "group";
  case H5I_DATASET: return "dataset";
  default: return "type";
  }
}

/// Throws Error where the HDF5 library has not got a filter that the values went through.
void require_filters(hid_t creation, const std::string& name) {
  const int filters = H5Pget_nfilters(creation);
  for (int n = 0; n < filters; ++n) {
    char text[64] = {};
    unsigned flags = 0, configuration = 0;
    std::size_t parameters = 0;
    const H5Z_filter_t filter = H5Pget_filter2(creation, static_cast<unsigned>(n), &flags, &parameters, nullptr,
                                               sizeof text - 1, text, &configuration);
    check(filter, "H5Pget_filter2", name);
    if (H5Zfilter_avail(filter) <= 0)
      throw Error(fmt::format("the values of {} are compressed by the filter '{}' (number {}), which the HDF5 "
                              "library {} has not got: store them with gzip or as they are (h5repack -f NONE "
                              "does, with that filter's plugin)",
                              name, text, filter, hdf5_version()));
  }
}

/// Throws Error if values are not in this file (HDF5 would read any that the dataset names), or cannot be unpacked.
void require_readable_values(hid_t dataset, const std::string& name) {
  const Handle creation(H5Dget_create_plist(dataset), H5Pclose, "H5Dget_create_plist", name);
  require_filters(creation, name);
  std::string other(256, '\0');
  if (H5Pget_external_count(creation) > 0) {
    off_t offset = 0;
    hsize_t size = 0;
    check(H5Pget_external(creation, 0, other.size() - 1, other.data(), &offset, &size), "H5Pget_external", name);
  } else if (H5Pget_layout(creation) == H5D_VIRTUAL) {
    H5Pget_virtual_filename(creation, 0, other.data(), other.size()); // of none mapped there is no name
  } else {
    return;
  }
  throw Error(fmt::format("the values of {} are in another file, {}, which is not read: store them in this one "
                          "(h5repack does)",
                          name, other.c_str()));
}

std::string below(const std::string& group, const std::string& name) {
  return (group == "/" ? "" : group) + "/" + name;
}

Json members(const Stored& stored, const std::string& group, int depth) {
  if (depth > deepest)
    throw Error(fmt::format("{} is {} groups deep; is it a member of itself?", group, depth), "E-FILE-DAMAGED");
  Json tree = stored_attributes(stored, group);
  for (const std::string& name : member_names(stored.file, group)) {
    const std::string path = below(group, name);
    const Handle object = open_object(stored.file, path);
    if (H5Iget_type(object) == H5I_GROUP)
      tree[name] = members(stored, path, depth + 1);
    else if (H5Iget_type(object) == H5I_DATASET && extents_of(object, path).size() <= 1) {
      require_readable_values(object, path);
      tree[name] = dataset_values(stored, object, path);
    }
  }
  return tree;
}

} // namespace

bool exists(hid_t file, const std::string& object) {
  std::string elsewhere;
  return find(file, object, elsewhere) >= 0;
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
  require_readable_values(object, name);
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

Json stored_attributes(const Stored& stored, const std::string& object) {
  const Handle open = open_object(stored.file, object);
  std::vector<std::string> names;
  const auto add = [](hid_t, const char* name, const H5A_info_t*, void* to) -> herr_t {
    static_cast<std::vector<std::string>*>(to)->emplace_back(name);
    return 0;
  };
  check(H5Aiterate2(open, H5_INDEX_NAME, H5_ITER_INC, nullptr, add, &names), "H5Aiterate2", object);
  Json values = Json::object();
  for (const std::string& name : names) values[name] = attribute_values(stored, open, object, name);
  return values;
}

Json stored_group(const Stored& stored, const std::string& group) { return members(stored, group, 0); }

} // namespace kontor::output
