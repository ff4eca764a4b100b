// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "box.hpp"
#include "hdf5.hpp"

#include <vector>

namespace kontor::output {

// What a file holds, read by the one rank that asks. Throws Error.

/// Reads a box of a dataset to contiguous memory.
void read_box(hid_t dataset, const std::string& name, const Box& box, hid_t type, void* data);

/// The extents of a dataset; none: a single value.
Extents extents_of(hid_t dataset, const std::string& name);

/// Whether there is an object of that path.
bool exists(hid_t file, const std::string& object);

/// Opens a dataset. Throws Error if there is none, or if its values are in another file.
Handle open_dataset(hid_t file, const std::string& name);

/// "float64", "int32", "uint8", "string", ...
std::string name_of_type(hid_t type);

/// A text as write_text() writes it.
std::string stored_text(hid_t file, const std::string& name);

} // namespace kontor::output
