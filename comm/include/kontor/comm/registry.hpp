// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/backend.hpp>

#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace kontor::comm {

/// One line of comm/CMakeLists.txt.
struct BackendEntry {
  std::string_view name;    ///< as decks and Options give it
  std::string_view summary; ///< in one line
  std::string_view enable;  ///< what to do to have it, where this build lacks it
  std::unique_ptr<Backend> (*make)(const BackendContext&); ///< null if this build lacks it
};

/// Every backend that Kontor knows, those that this build lacks included.
std::span<const BackendEntry> backends();

/// Throws UsageError if the name is unknown or the backend is not in this build; the text lists what is
/// there and how to get the other.
const BackendEntry& find_backend(std::string_view name, std::span<const BackendEntry> = backends());

} // namespace kontor::comm
