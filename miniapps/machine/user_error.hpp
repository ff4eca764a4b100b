// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/communicator.hpp>
#include <kontor/comm/error.hpp>
#include <kontor/config/error.hpp>

#include <optional>
#include <string>
#include <utility>

namespace kontor::miniapp {

/// Collective. Throws config::Error on all ranks if any of them has a problem that the user can mend, in the deck or in
/// a file; `id` is that of a text which has none.
inline void agree_on_user_error(const comm::Communicator& comm, std::optional<std::string> problem, errors::Id id) {
  if (problem) problem = errors::with_id(std::move(*problem), id);
  try {
    comm.agree(problem);
  } catch (const comm::AgreedError& error) {
    throw config::Error({error.what()}, id);
  }
}

} // namespace kontor::miniapp
