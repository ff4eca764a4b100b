// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/output/seal.hpp>

#include <cstdint>
#include <vector>

namespace kontor::output {

/// A checksum of `bytes` that begin `place` bytes behind a beginning, in words of so many bytes. It knows the words'
/// places: the sums of parts, which begin with a word, add up to that of the whole. Made to notice lost, altered or
/// misplaced data at the speed of memory, not to withstand forgery.
std::uint64_t sum_of(const void* data, std::uint64_t bytes, std::uint64_t word, std::uint64_t place);

/// The values of a field in the file.
struct StoredField {
  std::uint64_t address = 0; ///< of its first byte
  std::uint64_t bytes = 0;
  std::uint64_t word = 0; ///< bytes of an element
  std::uint64_t sum = 0;  ///< sum_of() its values, as they were handed over
};

/// Local. Appends the checksums to a file that is complete but for them; HDF5 does not look beyond its own end. What is
/// not of a field is read. Throws Error.
void seal(int descriptor, std::vector<StoredField> fields);

/// Local. The other check_seal() on this process alone; a file without checksums is never an Error.
void check_seal(const std::filesystem::path& path, Compared compared);

} // namespace kontor::output
