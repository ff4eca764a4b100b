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
T number_at(const std::byte* place) {
  T number;
  std::memcpy(&number, place, sizeof number);
  return number;
}

/// A value of a native type in memory; of a table, a row. Unsigned bytes are booleans.
Json value_at(const std::byte* place, hid_t type, const std::string& what) {
  const std::string name = name_of_type(type);
  if (name == "float64") return number_at<double>(place);
  if (name == "float32") return number_at<float>(place);
  if (name == "int64") return number_at<std::int64_t>(place);
  if (name == "int32") return number_at<std::int32_t>(place);
  if (name == "uint64") return number_at<std::uint64_t>(place);
  if (name == "uint8") return number_at<std::uint8_t>(place) != 0;
  if (name == "string" && H5Tis_variable_str(type) > 0) {
    const auto* const text = number_at<const char*>(place);
    return std::string(text ? text : "");
  }
  if (name == "string") {
    const auto* const text = reinterpret_cast<const char*>(place);
    return std::string(text, ::strnlen(text, H5Tget_size(type)));
  }
  if (name != "table")
    throw Error(fmt::format("the values of {} are of the type {}; a record has numbers, strings and tables of them",
                            what, name));
  Json row = Json::object();
  for (int n = 0; n < H5Tget_nmembers(type); ++n) {
    char* const column = H5Tget_member_name(type, static_cast<unsigned>(n));
    const std::string key = column ? column : "";
    H5free_memory(column);
    const Handle member(H5Tget_member_type(type, static_cast<unsigned>(n)), H5Tclose, "H5Tget_member_type", what);
    row[key] = value_at(place + H5Tget_member_offset(type, static_cast<unsigned>(n)), member, what + "." + key);
  }
  return row;
}

Json values(hid_t stored, hid_t space, const std::string& what, const ReadAs& read) {
  if (H5Sget_simple_extent_type(space) == H5S_NULL) return nullptr;
  const hssize_t count = H5Sget_simple_extent_npoints(space);
  check(count, "H5Sget_simple_extent_npoints", what);
  const Handle type(H5Tget_native_type(stored, H5T_DIR_DEFAULT), H5Tclose, "H5Tget_native_type", what);
  const std::size_t size = H5Tget_size(type);
  std::vector<std::byte> bytes(static_cast<std::size_t>(count) * size);
  read(type, bytes.data());
  Json found = Json::array();
  for (std::size_t at = 0; at < bytes.size(); at += size) found.push_back(value_at(bytes.data() + at, type, what));
  if (H5Tdetect_class(type, H5T_STRING) > 0) H5Dvlen_reclaim(type, space, H5P_DEFAULT, bytes.data());
  return H5Sget_simple_extent_type(space) == H5S_SCALAR ? found.front() : found;
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
  default: return "other";
  }
}

Json dataset_values(hid_t dataset, const std::string& name) {
  const Handle type(H5Dget_type(dataset), H5Tclose, "H5Dget_type", name);
  const Handle space(H5Dget_space(dataset), H5Sclose, "H5Dget_space", name);
  Json found = values(type, space, name, [&](hid_t as, void* to) {
    check(H5Dread(dataset, as, H5S_ALL, H5S_ALL, H5P_DEFAULT, to), "H5Dread", name);
  });
  const Extents extents = extents_of(dataset, name);
  for (std::size_t d = extents.size(); d-- > 1;) { // rows of rows of values
    const std::size_t count = elements({extents.begin(), extents.begin() + static_cast<std::ptrdiff_t>(d)});
    Json::array_t rows(count, Json::array()); // also of none
    for (std::size_t n = 0; n < found.size(); ++n) rows[n / extents[d]].push_back(std::move(found[n]));
    found = std::move(rows);
  }
  return found;
}

Json attribute_values(hid_t open, const std::string& object, const std::string& name) {
  const std::string what = object + "@" + name;
  const Handle attribute(H5Aopen(open, name.c_str(), H5P_DEFAULT), H5Aclose, "H5Aopen", what);
  const Handle type(H5Aget_type(attribute), H5Tclose, "H5Aget_type", what);
  const Handle space(H5Aget_space(attribute), H5Sclose, "H5Aget_space", what);
  return values(type, space, what, [&](hid_t as, void* to) { check(H5Aread(attribute, as, to), "H5Aread", what); });
}

} // namespace kontor::output
