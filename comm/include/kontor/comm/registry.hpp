// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/backend/backend.hpp>
#include <kontor/comm/error.hpp>

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace kontor::comm {

/// One line of comm/CMakeLists.txt.
struct BackendEntry {
  std::string_view name;    ///< as decks and Options give it
  std::string_view summary; ///< in one line
  std::string_view enable;  ///< what to do to have it, where this build lacks it
  /// Collective. Throws UsageError on every rank if the machine has not what it needs. Null if this build lacks it.
  std::unique_ptr<Backend> (*make)(const BackendContext&);
  Capabilities (*capabilities)(); ///< Local. Null if this build lacks it.
};

/// Every backend that Kontor knows, those that this build lacks included.
std::span<const BackendEntry> backends();

/// Throws UsageError if the name is unknown or the backend is not in this build; the text lists what is there and how
/// to get the other.
const BackendEntry& find_backend(std::string_view name, std::span<const BackendEntry> = backends());

/// Local. Why this build cannot do what the options ask, with what to change; nothing if it can. What only the ranks
/// together find out, such as how many nodes there are, is left to Communicator.
std::optional<UsageError> refusal(const Options&);

} // namespace kontor::comm
