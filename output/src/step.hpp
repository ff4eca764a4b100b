// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "driver.hpp"
#include "stored.hpp"

#include <kontor/output/block.hpp>

#include <string>
#include <vector>

namespace kontor::output {

/// A step of a Reader that reads the structure of a file, as data: so another process can make it.
struct Step {
  enum class Kind { open, has, names, attributes, record, info, read } kind = Kind::open;
  std::string object{};            ///< its path in the file
  Scalar scalar = Scalar::float64; ///< of values that are read
  Block block{};                   ///< of values that are read
};

/// A step as the arguments of a program, and back. from_words() throws Error if they are none.
std::vector<std::string> words(const Step&);
Step from_words(const std::vector<std::string>&);

/// Opens the file of a descriptor for reading. `path` names it in errors.
Handle open_to_read(Driver&, int descriptor, const std::string& path);

/// Makes a step and returns what the Reader's function of that name does; of `read`, it reads the first piece of the
/// block and returns nothing. Throws Error.
Json take(const Stored&, const Step&);

/// The dataset of a step that reads. Throws Error unless its scalars and extents are those of the step.
Handle open_values(hid_t file, const Step&);

/// The HDF5 type of such numbers in memory.
hid_t native_type(Scalar);

} // namespace kontor::output
