// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>

namespace kontor::miniapp {

/// The library that multiplies matrices on the host.
struct Blas {
  std::string name;       ///< such as "OpenBLAS 0.3.21"; "BLAS" where it does not tell
  bool optimised = false; ///< known to be
};

/// Local. The one that this process has loaded.
Blas host_blas();

/// Local. Its threads from now on; no effect where it does not tell how.
void set_blas_threads(int threads);

} // namespace kontor::miniapp
