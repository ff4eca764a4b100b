// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "run/options.hpp"

#include <kontor/comm/communicator.hpp>
#include <kontor/comm/error.hpp>
#include <kontor/config/deck.hpp>

namespace kontor::miniapp {

/// Collective over MPI_COMM_WORLD. All ranks, with the deck's comm options. Throws config::Error at the key of the deck
/// that is not possible here. Rank 0 tells what else a user of the backend should know.
comm::Communicator make_communicator(const config::Deck&, const RunOptions&, std::string_view app);

/// Local. The key of the deck that the communication layer refuses; the whole section where the deck leaves that choice
/// open.
std::string_view key_of(const comm::UsageError&, const comm::Options&);

} // namespace kontor::miniapp
