// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/communicator.hpp>
#include <kontor/config/deck.hpp>

#include <filesystem>
#include <string>
#include <vector>

namespace kontor::miniapp {

/// Collective over MPI_COMM_WORLD. Rank 0 reads the file; every rank parses the same text, so the result, or the
/// config::Error, is the same on all of them.
config::Deck read_deck(const std::string& path, const std::vector<std::string>& overrides);

/// The files of a run, as the user named them.
struct Files {
  std::string deck;
  std::string output;                         ///< the HDF5 file
  bool fields = true;                         ///< an XDMF file is written beside it
  std::string results;                        ///< the record as JSON; empty: none
  std::vector<config::InputFile> inputs = {}; ///< that the deck names
};

/// Collective. Throws config::Error on all ranks if two of the files are one, one that is written is read, or the XDMF
/// file cannot carry the name of the HDF5 file. Touches none of them.
void check_files(const comm::Communicator&, const Files&);

/// Local. What is written beside the HDF5 file.
std::vector<std::filesystem::path> sidecars(const Files&);

} // namespace kontor::miniapp
