// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <filesystem>
#include <limits>

namespace kontor::miniapp {

/// Bytes that Linux's control groups grant; infinite where they limit nothing.
struct GrantedMemory {
  double free = std::numeric_limits<double>::infinity();
  double limit = std::numeric_limits<double>::infinity();
};

/// Local. What the groups of this process and all groups around them, of version 1 or 2, leave it. Cached files that
/// would make room count as free. `root` is where proc and sys are, for tests.
GrantedMemory memory_of_cgroups(const std::filesystem::path& root = "/");

} // namespace kontor::miniapp
