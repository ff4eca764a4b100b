// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "allocation_counter.hpp"

#include <cstdlib>
#include <new>

namespace {

// Of this thread only: MPI's progress threads allocate as they please.
thread_local bool counting = false;
thread_local int uncounted = 0;
thread_local int allocations = 0;

void count() {
  if (counting && uncounted == 0) ++allocations;
}

} // namespace

namespace kontor::comm::test {

void start_counting_allocations() {
  allocations = 0;
  counting = true;
}

int stop_counting_allocations() {
  counting = false;
  return allocations;
}

NotCounted::NotCounted() { ++uncounted; }
NotCounted::~NotCounted() { --uncounted; }

} // namespace kontor::comm::test

void* operator new(std::size_t size) {
  count();
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  count();
  return std::malloc(size);
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

// Below operator new, where the C library lets itself be asked; the sanitizers have a malloc of their own.
#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__)
extern "C" {
// NOLINTBEGIN: the C library's own names
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);
// NOLINTEND

void* malloc(std::size_t size) {
  count();
  return __libc_malloc(size);
}
void* calloc(std::size_t number, std::size_t size) {
  count();
  return __libc_calloc(number, size);
}
void* realloc(void* memory, std::size_t size) {
  count();
  return __libc_realloc(memory, size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) {
  count();
  return __libc_memalign(alignment, size);
}
int posix_memalign(void** memory, std::size_t alignment, std::size_t size) {
  count();
  *memory = __libc_memalign(alignment, size);
  return *memory ? 0 : 12; // ENOMEM
}
}
#endif
