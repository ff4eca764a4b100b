// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/config/deck.hpp>

#include <string>
#include <vector>

namespace kontor::miniapp {

/// Collective over MPI_COMM_WORLD. Rank 0 reads the file; every rank parses the same text, so the result, or the
/// config::Error, is the same on all of them.
config::Deck read_deck(const std::string& path, const std::vector<std::string>& overrides);

} // namespace kontor::miniapp
