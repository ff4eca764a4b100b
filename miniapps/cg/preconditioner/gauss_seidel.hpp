// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>

namespace kontor::cg {

/// What this program lacks for the preconditioner gauss_seidel; empty: nothing.
std::string gauss_seidel_needs();
inline bool has_gauss_seidel() {
  return gauss_seidel_needs().empty();
}

} // namespace kontor::cg
