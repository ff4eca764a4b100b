// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

namespace kontor::miniapp {

/// What was built, from what and how.
struct BuildInfo {
  const char* version;
  const char* git_revision; ///< with "-dirty" if files differed; "unknown" outside a checkout
  const char* compiler;
  const char* flags;
};
const BuildInfo& build_info();

} // namespace kontor::miniapp
