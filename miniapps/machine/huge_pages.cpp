// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine/huge_pages.hpp"

#include <cstdint>

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace kontor::miniapp {

void use_huge_pages([[maybe_unused]] const void* data, [[maybe_unused]] std::size_t bytes) {
#if defined(__linux__) && defined(MADV_HUGEPAGE)
#ifdef MADV_COLLAPSE
  constexpr int collapse = MADV_COLLAPSE;
#else
  constexpr int collapse = 25; // since Linux 6.1; older ones refuse it
#endif
  constexpr std::uintptr_t page = std::uintptr_t{1} << 21;
  const auto address = reinterpret_cast<std::uintptr_t>(data);
  const auto begin = (address + page - 1) / page * page;
  const auto end = (address + bytes) / page * page;
  if (begin >= end) return;
  auto* const first = reinterpret_cast<void*>(begin);
  madvise(first, end - begin, MADV_HUGEPAGE); // for pages that are not there yet
  madvise(first, end - begin, collapse);      // for those that are
#endif
}

} // namespace kontor::miniapp
