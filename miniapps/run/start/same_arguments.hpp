// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "run/start/command_line.hpp"

#include <optional>
#include <string_view>

namespace kontor::miniapp {

/// Collective over MPI_COMM_WORLD. A result on every rank, naming two of them and what they run, unless all
/// run the same app with the same arguments, as one launch line of several programs would have it.
std::optional<EarlyExit> different_arguments(std::string_view app, int argc, char** argv);

} // namespace kontor::miniapp
