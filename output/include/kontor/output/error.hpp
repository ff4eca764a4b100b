// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/errors/id.hpp>

#include <stdexcept>

namespace kontor::output {

/// Output failed. The text names the file, the operation, the object and what HDF5 or the system said. Functions that
/// are collective throw the same Error on every rank.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
  /// An id ends the first line: `id`, where the text quotes none.
  Error(const std::string& what, errors::Id id) : std::runtime_error(errors::with_id(what, id)) {}
};

/// MPI failed on this rank: others may be waiting for it, and nothing can be agreed on. Not an Error, because the other
/// ranks may not have it: who catches it ends the program (MPI_Abort).
class MpiError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

} // namespace kontor::output
