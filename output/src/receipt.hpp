// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "hdf5.hpp"

#include <kontor/output/file.hpp>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace kontor::output {

/// What was handed over for a dataset or an attribute, kept until the file has been read back.
struct Receipt {
  std::string object;
  std::string attribute; ///< empty: the dataset itself
  Block block;           ///< of the dataset
  Handle type;           ///< in memory
  std::uint64_t sum = 0;
};

/// The checksum of a block in memory.
std::uint64_t block_checksum(const Block& block, hid_t type, const void* data);

/// The checksum of `count` values of an attribute; of strings of variable length it is their characters that
/// count.
std::uint64_t values_checksum(hid_t type, std::size_t count, const void* data);

Handle copy_type(hid_t type);

/// Opens the file and throws Error if something in it is not what was handed over.
void verify(const std::filesystem::path& path, const std::vector<Receipt>& receipts);

} // namespace kontor::output
