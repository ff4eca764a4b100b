// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "run/communicator.hpp"

#include "run/to_stderr.hpp"

#include <kontor/comm/registry.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace kontor::miniapp {

comm::Communicator make_communicator(const config::Deck& deck, const RunOptions& options,
                                     std::string_view app) {
  try {
    auto comm = comm::Communicator(MPI_COMM_WORLD, options.comm_options());
    const auto remark = comm.backend().remark();
    if (!remark.empty() && comm.rank() == 0)
      to_stderr(fmt::format("{}: backend {}: {}\n", app, options.comm.backend, remark));
    return comm;
  } catch (const comm::UsageError& error) {
    deck.fail(key_of(error, options.comm), fmt::format("is not available: {}", error.what()));
  }
}

std::string_view key_of(const comm::UsageError& error, const comm::Options& options) {
  const auto known = comm::backends();
  const bool absent = std::any_of(known.begin(), known.end(), [&](const auto& entry) {
    return entry.name == options.backend && !entry.make;
  });
  if (absent) return "comm.backend";
  const std::string_view what = error.what();
  const bool of_path = what.starts_with("path '") || what.find("so path '") != std::string_view::npos;
  return of_path && options.path != comm::Path::automatic ? "comm.path" : "comm";
}

} // namespace kontor::miniapp
