// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "descriptor.hpp"
#include "driver.hpp"
#include "hdf5.hpp"
#include "transfer.hpp"

namespace kontor::output {

/// What was handed over for an attribute or a small dataset, kept until the file has been read back.
struct Receipt {
  std::string object;
  std::string attribute; ///< empty: the dataset itself
  Extents extent;        ///< of the dataset
  Handle type;           ///< in memory
  std::uint64_t sum = 0;
};

/// What this rank has handed over, and what it has written, for a field.
struct FieldReceipt {
  std::string name;
  Extents global;
  Handle type;
  std::uint64_t address; ///< of its values in the file
  Share share;
};

/// The checksum of `count` values of an attribute; of strings of variable length it is their characters that count.
std::uint64_t values_checksum(hid_t type, std::size_t count, const void* data);

Handle copy_type(hid_t type);

/// A file that was written and is read back.
class Written {
 public:
  /// Throws Error if it cannot be opened.
  explicit Written(const std::filesystem::path& path);

  /// Throws Error if something is not what was handed over.
  void check(const std::vector<Receipt>& receipts) const;

  /// The box_sum() of what this rank has written.
  std::uint64_t sum(const FieldReceipt& field) const;

 private:
  Descriptor descriptor_;
  Driver driver_;
  Handle file_;
};

/// An Error that names what is not as it was handed over.
Error altered(const std::string& what);

} // namespace kontor::output
