// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "run/start/command_line.hpp"

#include <optional>
#include <string_view>

/// Whether the ranks were started as one run. Every function is collective over MPI_COMM_WORLD, and has a result on
/// every rank if they were not.
namespace kontor::miniapp {

/// There are not as many ranks as the environment's KONTOR_RANKS says, which `kontor run` sets: a launcher that does
/// not speak this MPI's protocol starts so many programs, each of which takes itself for the only one. The text is
/// empty but on the first of those.
std::optional<EarlyExit> unexpected_ranks();

/// Not all ranks run the same app with the same arguments, as where one launch line has several programs. The text
/// names two of them and what they run.
std::optional<EarlyExit> different_arguments(std::string_view app, int argc, char** argv);

} // namespace kontor::miniapp
