// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "values.hpp"

#include <kontor/output/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

namespace kontor::output {

namespace {

template <class T>
void store_as(const Json& value, std::byte* to) {
  const T number = value.get<T>();
  std::memcpy(to, &number, sizeof number);
}

bool beyond_int64(const Json* value) {
  return value->is_number_unsigned() &&
         value->get<std::uint64_t>() > std::uint64_t(std::numeric_limits<std::int64_t>::max());
}

} // namespace

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

Handle string_type() {
  Handle type(H5Tcopy(H5T_C_S1), H5Tclose, "H5Tcopy", "a string type");
  check(H5Tset_size(type, H5T_VARIABLE), "H5Tset_size", "a string type");
  check(H5Tset_cset(type, H5T_CSET_UTF8), "H5Tset_cset", "a string type");
  return type;
}

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

std::vector<std::byte> store(const std::vector<const Json*>& values, const Kind& kind) {
  std::vector<std::byte> bytes(values.size() * kind.bytes);
  for (std::size_t i = 0; i < values.size(); ++i) store(*values[i], kind, bytes.data() + i * kind.bytes);
  return bytes;
}

std::vector<const Json*> values_of(const Json& value) {
  if (!value.is_array()) return {&value};
  std::vector<const Json*> values;
  for (const Json& element : value) values.push_back(&element);
  return values;
}

std::vector<std::uint64_t> extent_of(const Json& array) {
  std::vector<std::uint64_t> extent;
  for (const Json* part = &array; part->is_array(); part = &part->front()) {
    extent.push_back(part->size());
    if (part->empty()) break;
  }
  return extent;
}

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

} // namespace kontor::output
