// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "stored.hpp"

#include <kontor/output/error.hpp>

#include <fmt/format.h>

#include <cstring>

namespace kontor::output {

namespace {

/// Reads all values into memory as values of a type.
using ReadAs = std::function<void(hid_t type, void* to)>;

template <class T>
std::vector<Json> numbers(std::size_t count, const ReadAs& read) {
  std::vector<T> values(count);
  read(native_type<T>(), values.data());
  return {values.begin(), values.end()};
}

std::vector<Json> booleans(std::size_t count, const ReadAs& read) {
  std::vector<std::uint8_t> values(count);
  read(native_type<std::uint8_t>(), values.data());
  std::vector<Json> result;
  for (const auto value : values) result.emplace_back(value != 0);
  return result;
}

std::vector<Json> fixed_strings(std::size_t count, hid_t type, const ReadAs& read) {
  const std::size_t size = H5Tget_size(type);
  std::vector<char> text(count * size);
  read(type, text.data());
  std::vector<Json> result;
  for (std::size_t i = 0; i < count; ++i)
    result.emplace_back(std::string(text.data() + i * size, ::strnlen(text.data() + i * size, size)));
  return result;
}

/// HDF5 makes room for each string, which is given back.
std::vector<Json> variable_strings(std::size_t count, hid_t type, const ReadAs& read) {
  std::vector<char*> texts(count, nullptr);
  read(type, texts.data());
  std::vector<Json> result;
  for (char* text : texts) {
    result.emplace_back(std::string(text ? text : ""));
    H5free_memory(text);
  }
  return result;
}

/// Values of one type, which is not a table's.
std::vector<Json> simple_values(std::size_t count, hid_t type, const std::string& what, const ReadAs& read) {
  const auto kind = name_of_type(type);
  if (kind.starts_with("float")) return numbers<double>(count, read);
  if (kind.starts_with("int")) return numbers<std::int64_t>(count, read);
  if (kind == "uint8") return booleans(count, read);
  if (kind.starts_with("uint")) return numbers<std::uint64_t>(count, read);
  if (kind != "string")
    throw Error(fmt::format("the values of {} are of the type {}; a record has numbers, strings and tables of them",
                            what, kind));
  return H5Tis_variable_str(type) > 0 ? variable_strings(count, type, read) : fixed_strings(count, type, read);
}

std::vector<Json> table(std::size_t count, hid_t type, const std::string& what, const ReadAs& read) {
  std::vector<Json> rows(count, Json::object());
  const int columns = H5Tget_nmembers(type);
  check(columns, "H5Tget_nmembers", what);
  for (int n = 0; n < columns; ++n) {
    char* text = H5Tget_member_name(type, n);
    const std::string name = text ? text : "";
    H5free_memory(text);
    const Handle member(H5Tget_member_type(type, n), H5Tclose, "H5Tget_member_type", what);
    const auto column = simple_values(count, member, what + "." + name, [&](hid_t as, void* to) {
      const Handle one(H5Tcreate(H5T_COMPOUND, H5Tget_size(as)), H5Tclose, "H5Tcreate", what);
      check(H5Tinsert(one, name.c_str(), 0, as), "H5Tinsert", what);
      read(one, to);
    });
    for (std::size_t row = 0; row < count; ++row) rows[row][name] = column[row];
  }
  return rows;
}

Json values(hid_t type, hid_t space, const std::string& what, const ReadAs& read) {
  const hssize_t count = H5Sget_simple_extent_npoints(space);
  check(count, "H5Sget_simple_extent_npoints", what);
  if (H5Sget_simple_extent_type(space) == H5S_NULL) return nullptr;
  const auto number = static_cast<std::size_t>(count);
  auto found =
      name_of_type(type) == "table" ? table(number, type, what, read) : simple_values(number, type, what, read);
  if (H5Sget_simple_extent_type(space) == H5S_SCALAR) return found.front();
  return Json(std::move(found));
}

} // namespace

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
  case H5T_COMPOUND: return "table";
  case H5T_ENUM: return "enumeration";
  case H5T_ARRAY: return "array";
  default: return "other";
  }
}

Json dataset_values(hid_t dataset, const std::string& name) {
  const Handle type(H5Dget_type(dataset), H5Tclose, "H5Dget_type", name);
  const Handle space(H5Dget_space(dataset), H5Sclose, "H5Dget_space", name);
  return values(type, space, name, [&](hid_t as, void* to) {
    check(H5Dread(dataset, as, H5S_ALL, H5S_ALL, H5P_DEFAULT, to), "H5Dread", name);
  });
}

Json attribute_values(hid_t open, const std::string& object, const std::string& name) {
  const std::string what = object + "@" + name;
  const Handle attribute(H5Aopen(open, name.c_str(), H5P_DEFAULT), H5Aclose, "H5Aopen", what);
  const Handle type(H5Aget_type(attribute), H5Tclose, "H5Aget_type", what);
  const Handle space(H5Aget_space(attribute), H5Sclose, "H5Aget_space", what);
  if (H5Sget_simple_extent_ndims(space) > 1)
    throw Error(fmt::format("{} has {} dimensions; a record's attributes have 1 at most", what,
                            H5Sget_simple_extent_ndims(space)));
  return values(type, space, what, [&](hid_t as, void* to) { check(H5Aread(attribute, as, to), "H5Aread", what); });
}

} // namespace kontor::output
