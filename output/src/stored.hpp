// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "box.hpp"
#include "hdf5.hpp"

#include <nlohmann/json.hpp>

namespace kontor::output {

using Json = nlohmann::ordered_json;

// What a file holds, read by the one rank that asks. Throws Error.

/// Reads a box of a dataset to contiguous memory.
void read_box(hid_t dataset, const std::string& name, const Box& box, hid_t type, void* data);

/// The extents of a dataset; none: a single value.
Extents extents_of(hid_t dataset, const std::string& name);

/// Whether there is an object of that path.
bool exists(hid_t file, const std::string& object);

/// Opens a dataset. If there is none, the Error says what there is instead.
Handle open_dataset(hid_t file, const std::string& name);

/// "float64", "int32", "uint8", "string", "table", ...
std::string name_of_type(hid_t type);

/// In alphabetical order.
std::vector<std::string> member_names(hid_t file, const std::string& group);

Json stored_attributes(hid_t file, const std::string& object);

/// A group as Reader::record() says; with `all`, datasets of any rank are in it. Throws Error if a part is in another
/// file.
Json stored_group(hid_t file, const std::string& group, bool all = false);

/// The values of a dataset as JSON, arrays in arrays; of a table, objects.
Json dataset_values(hid_t dataset, const std::string& name);

/// The value or values of an attribute of an open object, which is called `object`.
Json attribute_values(hid_t open, const std::string& object, const std::string& name);

/// "; /fields has temperature": what there is where `object` is not.
std::string present(hid_t file, const std::string& object);

} // namespace kontor::output
