// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace kontor::fuzz {

/// What inputs are made of: whole ones that are valid, and words that stand in such inputs.
struct Material {
  std::vector<std::string> samples; ///< one or more
  std::vector<std::string> words;
  bool binary = false; ///< numbers are bytes, not digits
};

/// A sample, changed at 1 to 8 places: bits, bytes, numbers, words; parts removed, repeated, or taken from another
/// sample. The same for the same material, seed and number, on every machine.
std::string mutated(const Material&, std::uint64_t seed, std::uint64_t number);

} // namespace kontor::fuzz
