// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "run/same_arguments.hpp"

#include "run/broadcast_text.hpp"
#include "run/guard.hpp"

#include <kontor/comm/communicator.hpp>

#include <fmt/format.h>

namespace kontor::miniapp {

std::optional<EarlyExit> different_arguments(std::string_view app, int argc, char** argv) {
  std::string mine(app);
  for (int i = 1; i < argc; ++i) mine += fmt::format(" {}", argv[i]);
  const auto first = broadcast(MPI_COMM_WORLD, mine);
  const comm::Communicator all(MPI_COMM_WORLD);
  std::optional<std::string> problem;
  if (mine != first)
    problem =
        fmt::format("rank 0 runs '{}', but rank {} runs '{}'; all ranks of a run have the same program and "
                    "arguments: start others by a launcher of their own\n",
                    first, all.rank(), mine);
  try {
    all.agree(problem);
  } catch (const comm::AgreedError& error) {
    return EarlyExit{exit_user_error, error.what()};
  }
  return std::nullopt;
}

} // namespace kontor::miniapp
