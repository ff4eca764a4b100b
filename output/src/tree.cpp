// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tree.hpp"

#include <kontor/output/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>

namespace kontor::output {

namespace {

/// The one type that some JSON values are stored with.
struct Kind {
  enum { boolean, integer, natural, real, string } of = real;
  std::size_t bytes = 8; ///< of one value; of strings, the longest
};

template <class T>
void store_as(const Json& value, std::byte* to) {
  const T number = value.get<T>();
  std::memcpy(to, &number, sizeof number);
}

bool beyond_int64(const Json* value) {
  return value->is_number_unsigned() &&
         value->get<std::uint64_t>() > std::uint64_t(std::numeric_limits<std::int64_t>::max());
}

/// The kind that holds all values, which may be none; `where` names them in an Error.
Kind common_kind(const std::vector<const Json*>& values, const std::string& where) {
  const auto all = [&](auto&& test) { return std::all_of(values.begin(), values.end(), test); };
  if (values.empty()) return {Kind::real, sizeof(double)};
  if (all([](const Json* value) { return value->is_string(); })) {
    std::size_t longest = 1; // HDF5 has no strings of length 0
    for (const Json* value : values) longest = std::max(longest, value->get_ref<const std::string&>().size());
    return {Kind::string, longest};
  }
  if (all([](const Json* value) { return value->is_boolean(); })) return {Kind::boolean, sizeof(std::uint8_t)};
  if (!all([](const Json* value) { return value->is_number(); }))
    throw Error(fmt::format("{} mixes values that one HDF5 type cannot hold; allowed are all numbers, all strings "
                            "or all booleans",
                            where));
  if (!all([](const Json* value) { return value->is_number_integer(); })) return {Kind::real, sizeof(double)};
  if (std::none_of(values.begin(), values.end(), beyond_int64)) return {Kind::integer, sizeof(std::int64_t)};
  return {all([](const Json* value) { return value->is_number_unsigned(); }) ? Kind::natural : Kind::real, 8};
}

/// The HDF5 type of a kind; strings have a fixed length.
Handle fixed_type(const Kind& kind) {
  const hid_t numbers[] = {native_type<std::uint8_t>(), native_type<std::int64_t>(), native_type<std::uint64_t>(),
                           native_type<double>()};
  if (kind.of != Kind::string) return {H5Tcopy(numbers[kind.of]), H5Tclose, "H5Tcopy", "a number type"};
  Handle type(H5Tcopy(H5T_C_S1), H5Tclose, "H5Tcopy", "a string type");
  check(H5Tset_size(type, kind.bytes), "H5Tset_size", "a string type");
  check(H5Tset_strpad(type, H5T_STR_NULLPAD), "H5Tset_strpad", "a string type");
  check(H5Tset_cset(type, H5T_CSET_UTF8), "H5Tset_cset", "a string type");
  return type;
}

/// Stores `value` in the `kind.bytes` bytes at `to`.
void store(const Json& value, const Kind& kind, std::byte* to) {
  switch (kind.of) {
  case Kind::boolean: *to = std::byte{value.get<bool>()}; break;
  case Kind::integer: store_as<std::int64_t>(value, to); break;
  case Kind::natural: store_as<std::uint64_t>(value, to); break;
  case Kind::real: store_as<double>(value, to); break;
  case Kind::string: {
    const auto& text = value.get_ref<const std::string&>();
    std::memset(to, 0, kind.bytes);
    std::memcpy(to, text.data(), text.size());
    break;
  }
  }
}

/// Stores all values one after the other.
std::vector<std::byte> store(const std::vector<const Json*>& values, const Kind& kind) {
  std::vector<std::byte> bytes(values.size() * kind.bytes);
  for (std::size_t i = 0; i < values.size(); ++i) store(*values[i], kind, bytes.data() + i * kind.bytes);
  return bytes;
}

/// The elements of an array, or the value itself.
std::vector<const Json*> values_of(const Json& value) {
  if (!value.is_array()) return {&value};
  std::vector<const Json*> values;
  for (const Json& element : value) values.push_back(&element);
  return values;
}

/// The extents of an array of arrays (of arrays ...), as its first elements have them.
std::vector<std::uint64_t> extent_of(const Json& array) {
  std::vector<std::uint64_t> extent;
  for (const Json* part = &array; part->is_array(); part = &part->front()) {
    extent.push_back(part->size());
    if (part->empty()) break;
  }
  return extent;
}

/// The innermost elements of such an array, in C order. An Error that names `where` if its rows differ in length.
std::vector<const Json*> values_of(const Json& array, const std::vector<std::uint64_t>& extent,
                                   const std::string& where) {
  std::vector<const Json*> values{&array};
  for (const auto count : extent) {
    std::vector<const Json*> inner;
    for (const Json* part : values) {
      if (!part->is_array() || part->size() != count)
        throw Error(fmt::format("{} has rows of different lengths, which one HDF5 dataset cannot hold", where));
      for (const Json& element : *part) inner.push_back(&element);
    }
    values = std::move(inner);
  }
  return values;
}

bool is_array_of(const Json& value, bool (Json::*test)() const noexcept) {
  return value.is_array() && !value.empty() &&
         std::all_of(value.begin(), value.end(), [test](const Json& element) { return (element.*test)(); });
}

std::string checked_path(const std::string& group, const std::string& key) {
  if (key.empty() || key == "." || key.find('/') != std::string::npos)
    throw Error(fmt::format("'{}' cannot name a member of {}; names are not empty and have no '/'", key, group));
  return (group == "/" ? "" : group) + "/" + key;
}

/// Writes an array of objects with equal keys as one dataset of compound type.
void write_table(hid_t file, const std::string& name, const Json& rows) {
  struct Column {
    std::string key;
    Kind kind;
    std::size_t offset;
  };
  std::vector<Column> columns;
  std::size_t row_bytes = 0;
  for (const auto& [key, unused] : rows.front().items()) {
    std::vector<const Json*> values;
    for (const Json& row : rows) {
      if (row.size() != rows.front().size() || !row.contains(key))
        throw Error(fmt::format("the rows of table {} have different keys ('{}' is not in all)", name, key));
      values.push_back(&row[key]);
    }
    columns.push_back({key, common_kind(values, name + "." + key), row_bytes});
    row_bytes += columns.back().kind.bytes;
  }
  if (columns.empty()) throw Error(fmt::format("the rows of table {} are empty", name));

  const Handle type(H5Tcreate(H5T_COMPOUND, row_bytes), H5Tclose, "H5Tcreate", name);
  for (const Column& column : columns)
    check(H5Tinsert(type, column.key.c_str(), column.offset, fixed_type(column.kind)), "H5Tinsert", name);
  std::vector<std::byte> data(rows.size() * row_bytes);
  for (std::size_t row = 0; row < rows.size(); ++row)
    for (const Column& column : columns)
      store(rows[row][column.key], column.kind, data.data() + row * row_bytes + column.offset);
  write_array(file, name, type, {rows.size()}, data.data());
}

} // namespace

Handle string_type() {
  Handle type(H5Tcopy(H5T_C_S1), H5Tclose, "H5Tcopy", "a string type");
  check(H5Tset_size(type, H5T_VARIABLE), "H5Tset_size", "a string type");
  check(H5Tset_cset(type, H5T_CSET_UTF8), "H5Tset_cset", "a string type");
  return type;
}

void write_tree(hid_t file, const std::string& group, const Json& tree) {
  if (!tree.is_object()) throw Error(fmt::format("the record {} is {}; it must be an object", group, tree.type_name()));
  make_group(file, group);
  for (const auto& [key, value] : tree.items()) {
    const std::string path = checked_path(group, key);
    if (value.is_object())
      write_tree(file, path, value);
    else if (is_array_of(value, &Json::is_object))
      write_table(file, path, value);
    else if (value.is_array() && !is_array_of(value, &Json::is_string)) {
      const auto extent = extent_of(value);
      const auto values = values_of(value, extent, path);
      const Kind kind = common_kind(values, path);
      write_array(file, path, fixed_type(kind), extent, store(values, kind).data());
    } else if (!value.is_null())
      write_attribute(file, group, key, value);
  }
}

void write_attributes(hid_t file, const std::string& object, const Json& flat) {
  if (!flat.is_object())
    throw Error(fmt::format("the attributes of {} are {}; they must be an object", object, flat.type_name()));
  for (const auto& [key, value] : flat.items())
    if (!value.is_null()) write_attribute(file, object, key, value);
}

void write_attribute(hid_t file, const std::string& object, const std::string& name, const Json& value) {
  const auto values = values_of(value);
  const Kind kind = common_kind(values, object + "@" + name);
  const std::vector<hsize_t> extent(value.is_array() ? 1 : 0, values.size());
  if (kind.of != Kind::string)
    return write_attribute(file, object, name, fixed_type(kind), extent, store(values, kind).data());
  std::vector<const char*> strings;
  strings.reserve(values.size());
  for (const Json* text : values) strings.push_back(text->get_ref<const std::string&>().c_str());
  write_attribute(file, object, name, string_type(), extent, strings.data());
}

void write_attribute(hid_t file, const std::string& object, const std::string& name, hid_t type,
                     const std::vector<hsize_t>& extent, const void* data) {
  const std::string what = object + "@" + name;
  const Handle space(extent.empty() ? H5Screate(H5S_SCALAR)
                                    : H5Screate_simple(static_cast<int>(extent.size()), extent.data(), nullptr),
                     H5Sclose, "H5Screate", what);
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
