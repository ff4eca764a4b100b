// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "stored.hpp"

#include <kontor/output/image.hpp>

namespace kontor::output {

// Called on the one rank that has the file open.

/// Writes a JSON object as a group, as File::record() says.
void write_tree(hid_t file, const std::string& group, const Json& tree);

/// Adds the members of `flat` as attributes of an object.
void write_attributes(hid_t file, const std::string& object, const Json& flat);

/// Adds one attribute: a number, boolean or string, or an array of them.
void write_attribute(hid_t file, const std::string& object, const std::string& name, const Json& value);

/// Adds one attribute from memory; an empty `extent` is a scalar.
void write_attribute(hid_t file, const std::string& object, const std::string& name, hid_t type,
                     const std::vector<hsize_t>& extent, const void* data);

/// Writes the group /VTKHDF, as File::describe() says.
void write_vtkhdf(hid_t file, const Mesh& mesh, const std::vector<Snapshot>& snapshots);

/// Writes a dataset from memory, in C order.
void write_array(hid_t file, const std::string& name, hid_t type, const std::vector<std::uint64_t>& extent,
                 const void* data);

/// Creates a dataset that takes its space in the file at once and is not filled, with the groups on the way to it.
Handle create_dataset(hid_t file, const std::string& name, hid_t type, const std::vector<std::uint64_t>& extent);

/// Makes a group and those on the way to it, as far as they are not there.
void make_group(hid_t file, const std::string& path);

/// The type of UTF-8 strings of any length, as h5py reads as str.
Handle string_type();

/// Properties for creating objects that do not note when: equal contents make equal files.
Handle timeless(hid_t creation_class);

} // namespace kontor::output
