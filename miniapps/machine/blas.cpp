// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine/blas.hpp"

#include "machine/cores.hpp"

#include <dlfcn.h>
#include <sys/mman.h>

namespace kontor::miniapp {
namespace {

/// A function of a library that may be loaded. Which BLAS stands behind the name libblas is decided when the program
/// starts (on Debian by update-alternatives), so it is looked for then.
template <class Function>
Function* function(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_DEFAULT, name));
}

} // namespace

Blas host_blas() {
  if (const auto config = function<char*()>("openblas_get_config")) {
    const std::string text = config(); // "OpenBLAS 0.3.21 NO_LAPACKE ..."
    return {text.substr(0, text.find(' ', text.find(' ') + 1)), true};
  }
  if (const auto version = function<const char*()>("bli_info_get_version_str"))
    return {std::string("BLIS ") + version(), true};
  if (const auto version = function<void(char*, int)>("MKL_Get_Version_String")) {
    char text[200] = {};
    version(text, sizeof text - 1);
    return {text, true};
  }
  return {"BLAS", false};
}

void set_blas_threads(int threads) {
  const OnAllCores pool; // OpenBLAS creates its threads here
  for (const char* name : {"openblas_set_num_threads", "MKL_Set_Num_Threads"})
    if (const auto set = function<void(int)>(name)) set(threads);
}

bool blas_can_start(int threads) {
  if (!function<char*()>("openblas_get_config")) return true;
  const auto bytes = static_cast<std::size_t>(threads) * blas_buffer_bytes;
  void* const room = ::mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return room != MAP_FAILED && ::munmap(room, bytes) == 0;
}

} // namespace kontor::miniapp
