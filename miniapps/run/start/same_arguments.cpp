// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "run/start/same_arguments.hpp"

#include "run/start/broadcast_text.hpp"
#include "run/start/guard.hpp"

#include <kontor/comm/error.hpp>
#include <kontor/mpi/agree.hpp>

#include <fmt/format.h>

#include <utility>

namespace kontor::miniapp {

std::optional<EarlyExit> different_arguments(std::string_view app, int argc, char** argv) {
  std::string mine(app);
  for (int i = 1; i < argc; ++i) mine += fmt::format(" {}", argv[i]);
  const auto first = broadcast(MPI_COMM_WORLD, mine);
  const auto other = mpi::first_problem<comm::Error>(
      MPI_COMM_WORLD, mine == first ? std::nullopt : std::optional(std::move(mine)));
  if (!other) return std::nullopt;
  return EarlyExit{
      exit_user_error,
      fmt::format("rank 0 runs '{}', but rank {} runs '{}'; all ranks of a run have the same program and "
                  "arguments: start others by a launcher of their own\n",
                  first, other->rank, other->text)};
}

} // namespace kontor::miniapp
