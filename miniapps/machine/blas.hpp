// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <string>

namespace kontor::miniapp {

/// The library that multiplies matrices on the host.
struct Blas {
  std::string name;       ///< such as "OpenBLAS 0.3.21"; "BLAS" where it does not tell
  bool optimised = false; ///< known to be
};

/// Local. The one that this process has loaded.
Blas host_blas();

/// Local. Its threads from now on, on any core of this process; no effect where it does not tell how.
void set_blas_threads(int threads);

/// What OpenBLAS maps for each thread at its first product.
inline constexpr std::size_t blas_buffer_bytes = std::size_t{128} << 20;

/// Local. Whether the process may map that for so many threads now. OpenBLAS tries forever if it may not. True of other
/// libraries.
bool blas_can_start(int threads);

} // namespace kontor::miniapp
