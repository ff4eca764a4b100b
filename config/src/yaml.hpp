// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "problems.hpp"
#include "tree.hpp"

#include <string>

namespace kontor::config {

/// Parses YAML into a tree; `source` says where the text is from (its line and column are ignored). Duplicate keys,
/// merge keys and tags go to `problems`; throws Error where no tree can be made or a limit of limits.hpp is passed.
Node parse_yaml(const std::string& text, const Place& source, Problems& problems);

} // namespace kontor::config
