// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "driver.hpp"
#include "stored.hpp"

#include <kontor/output/block.hpp>

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

/// Local. Makes a step in a process of its own, which is gone before this returns; the caller then makes the same step.
/// The HDF5 library (1.10.8 at least) checks little of what it reads: from a damaged file it may read outside of its
/// memory, ask for all there is, or never come back. Throws Error if that process does not survive the step, or wants
/// far more memory than the file has bytes; an Error of the step is left to the caller. The process is another program,
/// kontor-rehearse: a fork of an MPI process would share memory that MPI and CUDA have registered. The program is
/// KONTOR_REHEARSE of the environment, or is beside the running one, or where it was built. Where it cannot be started,
/// there is no rehearsal.
void rehearse(int descriptor, const Step&);

/// How the program ends that has survived a step, and the one that wanted more memory than it had.
enum RehearsalEnd : int { survived = 0, wants_memory = 3 };

} // namespace kontor::output
