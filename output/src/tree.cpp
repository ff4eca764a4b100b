// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tree.hpp"

#include <kontor/output/error.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace kontor::output {

namespace {

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
void write_table(hid_t file, const std::string& name, const Json& rows, std::vector<Receipt>& receipts) {
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
  write_array(file, name, type, {rows.size()}, data.data(), receipts);
}

} // namespace

void write_tree(hid_t file, const std::string& group, const Json& tree, std::vector<Receipt>& receipts) {
  if (!tree.is_object()) throw Error(fmt::format("the record {} is {}; it must be an object", group, tree.type_name()));
  make_group(file, group);
  for (const auto& [key, value] : tree.items()) {
    const std::string path = checked_path(group, key);
    if (value.is_object())
      write_tree(file, path, value, receipts);
    else if (is_array_of(value, &Json::is_object))
      write_table(file, path, value, receipts);
    else if (value.is_array() && !is_array_of(value, &Json::is_string)) {
      const auto extent = extent_of(value);
      const auto values = values_of(value, extent, path);
      const Kind kind = common_kind(values, path);
      write_array(file, path, fixed_type(kind), extent, store(values, kind).data(), receipts);
    } else if (!value.is_null())
      write_attribute(file, group, key, value, receipts);
  }
}

void write_attributes(hid_t file, const std::string& object, const Json& flat, std::vector<Receipt>& receipts) {
  if (!flat.is_object())
    throw Error(fmt::format("the attributes of {} are {}; they must be an object", object, flat.type_name()));
  for (const auto& [key, value] : flat.items())
    if (!value.is_null()) write_attribute(file, object, key, value, receipts);
}

void write_attribute(hid_t file, const std::string& object, const std::string& name, const Json& value,
                     std::vector<Receipt>& receipts) {
  const auto values = values_of(value);
  const Kind kind = common_kind(values, object + "@" + name);
  const std::vector<hsize_t> extent(value.is_array() ? 1 : 0, values.size());
  if (kind.of != Kind::string)
    return write_attribute(file, object, name, fixed_type(kind), extent, store(values, kind).data(), receipts);
  std::vector<const char*> strings;
  strings.reserve(values.size());
  for (const Json* text : values) strings.push_back(text->get_ref<const std::string&>().c_str());
  write_attribute(file, object, name, string_type(), extent, strings.data(), receipts);
}

} // namespace kontor::output
