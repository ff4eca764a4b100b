// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "stored.hpp"

#include <kontor/output/image.hpp>

namespace kontor::output {

// Objects of HDF5 are created by the one rank that has the file open. Throws Error.

/// Writes a text in UTF-8 as a dataset of one string.
void write_text(hid_t file, const std::string& name, const std::string& text);

/// Adds one attribute; an empty `extent` is a scalar.
void write_attribute(hid_t file, const std::string& object, const std::string& name, hid_t type,
                     const std::vector<hsize_t>& extent, const void* data);

/// Writes the group /VTKHDF, as File::describe() says.
void write_vtkhdf(hid_t file, const Mesh& mesh, const std::vector<Snapshot>& snapshots);

/// Writes a dataset from memory, in C order; an empty `extent` is a single value.
void write_array(hid_t file, const std::string& name, hid_t type, const std::vector<std::uint64_t>& extent,
                 const void* data);

/// Creates a dataset that takes its space in the file at once and is not filled, with the groups on the way to it.
Handle create_dataset(hid_t file, const std::string& name, hid_t type, const std::vector<std::uint64_t>& extent);

/// Makes a group and those on the way to it, as far as they are not there.
void make_group(hid_t file, const std::string& path);

/// The type of strings of so many bytes, without a terminator.
Handle string_type(std::size_t bytes, H5T_cset_t characters);

/// Properties for creating objects that do not note when: equal contents make equal files.
Handle timeless(hid_t creation_class);

} // namespace kontor::output
