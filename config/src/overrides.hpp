// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "problems.hpp"
#include "tree.hpp"

#include <string>

namespace kontor::config {

/// Applies the n-th override (from 1), "section.key=value", to the tree.
void apply_override(Node& root, const std::string& text, int n, Problems& problems);

} // namespace kontor::config
