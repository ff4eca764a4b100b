// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "hdf5.hpp"

#include <nlohmann/json.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace kontor::output {

using Json = nlohmann::ordered_json;

/// The one type that some JSON values are stored with.
struct Kind {
  enum { boolean, integer, natural, real, string } of = real;
  std::size_t bytes = 8; ///< of one value; of strings, the longest
};

/// The kind that holds all values, which may be none; `where` names them in an Error.
Kind common_kind(const std::vector<const Json*>& values, const std::string& where);

/// The HDF5 type of a kind; strings have a fixed length.
Handle fixed_type(const Kind& kind);

/// The type of UTF-8 strings of any length, as h5py reads as str.
Handle string_type();

/// Stores `value` in the `kind.bytes` bytes at `to`.
void store(const Json& value, const Kind& kind, std::byte* to);

/// Stores all values one after the other.
std::vector<std::byte> store(const std::vector<const Json*>& values, const Kind& kind);

/// The elements of an array, or the value itself.
std::vector<const Json*> values_of(const Json& value);

/// The extents of an array of arrays (of arrays ...), as its first elements have them.
std::vector<std::uint64_t> extent_of(const Json& array);

/// The innermost elements of such an array, in C order. An Error that names `where` if its rows differ in length.
std::vector<const Json*> values_of(const Json& array, const std::vector<std::uint64_t>& extent,
                                   const std::string& where);

} // namespace kontor::output
