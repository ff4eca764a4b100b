// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "run/start/command_line.hpp"

#include <optional>

namespace kontor::miniapp {

/// Collective over MPI_COMM_WORLD. A result on every rank unless there are as many ranks as the environment's
/// KONTOR_RANKS says, which `kontor run` sets: a launcher that does not speak this MPI's protocol starts so
/// many programs, each of which takes itself for the only one. Its text is empty but on the first of those.
std::optional<EarlyExit> unexpected_ranks();

} // namespace kontor::miniapp
