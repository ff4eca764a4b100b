// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Allocations that fail: operator new, by which C++ libraries ask too, and those that Kokkos makes for Views.
#include "arm.h"

#include <cstdint>
#include <cstdlib>
#include <link.h>
#include <new>
#include <string_view>

namespace {

bool fails(const char* function, const void* caller) { return kontor_fault_at(function, caller) == FAULT_ERROR; }

void* allocate(std::size_t bytes) { return std::malloc(bytes > 0 ? bytes : 1); }

} // namespace

void* operator new(std::size_t bytes) {
  void* const place = fails("new", __builtin_return_address(0)) ? nullptr : allocate(bytes);
  if (!place) throw std::bad_alloc();
  return place;
}

void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  return fails("new", __builtin_return_address(0)) ? nullptr : allocate(bytes);
}

void operator delete(void* place) noexcept { std::free(place); }

void operator delete(void* place, std::size_t) noexcept { std::free(place); }

// Views are allocated in Kokkos' library. Other libraries' own allocations are not Kontor's to care for.
namespace {

struct Code {
  std::uintptr_t begin = 0, end = 0;
};

int find_kokkos(dl_phdr_info* module, std::size_t, void* found) {
  if (std::string_view(module->dlpi_name).find("kokkoscore") == std::string_view::npos) return 0;
  auto& code = *static_cast<Code*>(found);
  for (int i = 0; i < module->dlpi_phnum; ++i) {
    const auto& part = module->dlpi_phdr[i];
    if (part.p_type != PT_LOAD || !(part.p_flags & PF_X)) continue;
    code = {module->dlpi_addr + part.p_vaddr, module->dlpi_addr + part.p_vaddr + part.p_memsz};
  }
  return 1;
}

Code kokkos;

__attribute__((constructor)) void look_for_kokkos() { dl_iterate_phdr(find_kokkos, &kokkos); }

} // namespace

extern "C" void* __libc_malloc(std::size_t bytes);

extern "C" void* malloc(std::size_t bytes) {
  void* const caller = __builtin_return_address(0);
  const auto address = reinterpret_cast<std::uintptr_t>(caller);
  if (address >= kokkos.begin && address < kokkos.end && fails("malloc", caller)) return nullptr;
  return __libc_malloc(bytes);
}
