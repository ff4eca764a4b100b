// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdio>
#include <string_view>

namespace kontor::miniapp {

/// Local. Writes to stderr at once. If that cannot be done there is no place to say so, and no reason to stop.
inline void to_stderr(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

} // namespace kontor::miniapp
