// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/communicator.hpp>
#include <kontor/comm/error.hpp>
#include <kontor/config/error.hpp>

#include <optional>
#include <string>

namespace kontor::miniapp {

/// Collective. Throws config::Error on all ranks if any of them has a problem that the user can mend, in the
/// deck or in a file.
inline void agree_on_user_error(const comm::Communicator& comm, const std::optional<std::string>& problem) {
  try {
    comm.agree(problem);
  } catch (const comm::AgreedError& error) {
    throw config::Error({error.what()});
  }
}

} // namespace kontor::miniapp
