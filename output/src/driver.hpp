// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "hdf5.hpp"

#include <kontor/output/error.hpp>

#include <string>

namespace kontor::output {

/// An HDF5 file driver for one file, which keeps the first failure of the disk to itself.
///
/// HDF5 (1.10.8 at least) crashes when the process ends after a file could not be flushed while it was
/// closed, and would try to flush it again. This driver tells HDF5 that every write succeeded; after the
/// first that did not, it writes nothing more, and check() says what happened. Must outlive the file.
class Driver {
 public:
  Driver();
  Driver(const Driver&) = delete;
  Driver& operator=(const Driver&) = delete;

  /// Makes a file access property list use this driver.
  void use_in(hid_t access);

  /// Throws Error if something failed.
  void check() const {
    if (!failure_.empty()) throw Error(failure_);
  }

 private:
  Handle id_;
  std::string failure_;
};

} // namespace kontor::output
