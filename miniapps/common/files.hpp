// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/communicator.hpp>

#include <string>

namespace kontor::miniapp {

/// The files of a run, as the user named them.
struct Files {
  std::string deck;
  std::string output;  ///< the HDF5 file
  bool fields = true;  ///< an XDMF file is written beside it
  std::string results; ///< the record as JSON; empty: none
};

/// Collective. Throws config::Error on all ranks if one file would overwrite another, or if one that is
/// written at the end of the run cannot be created. (The HDF5 file is looked after by output::File.)
void check_files(const comm::Communicator&, const Files&);

} // namespace kontor::miniapp
