// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "run/start/communicator.hpp"

#include "run/start/messages.hpp"

#include <fmt/format.h>

namespace kontor::miniapp {

comm::Communicator make_communicator(const config::Deck& deck, const RunOptions& options, std::string_view app) {
  try {
    auto comm = comm::Communicator(MPI_COMM_WORLD, options.comm);
    const auto remark = comm.remark();
    if (!remark.empty() && comm.rank() == 0)
      to_stderr(fmt::format("{}: backend {}: {}\n", app, options.comm.backend, remark));
    return comm;
  } catch (const comm::UsageError& error) {
    deck.fail(key_of(error, options.comm), fmt::format("is not available: {}", error.what()), "E-COMM-BACKEND");
  }
}

std::string_view key_of(const comm::UsageError& error, const comm::Options& options) {
  switch (error.axis()) {
  case comm::Axis::backend: return "comm.backend";
  case comm::Axis::pattern: return options.pattern == comm::Pattern::automatic ? "comm" : "comm.pattern";
  case comm::Axis::packing: return options.packing == comm::Packing::automatic ? "comm" : "comm.packing";
  case comm::Axis::path: return options.path == comm::Path::automatic ? "comm" : "comm.path";
  case comm::Axis::none: break;
  }
  return "comm";
}

} // namespace kontor::miniapp
