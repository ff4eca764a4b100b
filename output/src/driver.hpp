// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "hdf5.hpp"

#include <kontor/output/error.hpp>

namespace kontor::output {

/// An HDF5 file driver for one file that is open already, which keeps the first failure of the disk to itself.
///
/// HDF5 (1.10.8 at least) crashes when the process ends after a file could not be flushed while it was closed, and
/// would try to flush it again. This driver tells HDF5 that every write succeeded; after the first that did not, it
/// writes nothing more, and check() says what happened. Must outlive the file.
class Driver {
 public:
  Driver() = default;
  Driver(const Driver&) = delete;
  Driver& operator=(const Driver&) = delete;

  /// What is found beyond the end of the file: zeros, as in a file that is being written, or an error.
  enum class Beyond { zeros, error };

  /// Makes a file access property list use this driver: what HDF5 opens with it, whatever name it gives, is the file of
  /// `descriptor`, which stays the caller's. Once.
  void use_in(hid_t access, int descriptor, Beyond beyond = Beyond::zeros);

  /// What HDF5's file and this object share.
  struct State {
    int descriptor = -1;
    Beyond beyond = Beyond::zeros;
    std::string failure;
  };

  /// Throws Error if something failed.
  void check() const {
    if (!state_.failure.empty()) throw Error(state_.failure);
  }

 private:
  Handle id_;
  State state_;
};

} // namespace kontor::output
