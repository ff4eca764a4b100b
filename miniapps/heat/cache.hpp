// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <unistd.h>

namespace kontor::heat {

/// Bytes of the largest cache a core reaches, as the system tells; 32 MiB where it does not.
inline std::size_t last_level_cache_bytes() {
  long bytes = 0;
#if defined(_SC_LEVEL3_CACHE_SIZE)
  bytes = sysconf(_SC_LEVEL3_CACHE_SIZE);
#endif
  return bytes > 0 ? static_cast<std::size_t>(bytes) : std::size_t{32} << 20;
}

} // namespace kontor::heat
