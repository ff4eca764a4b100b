// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "run/launcher.hpp"

#include <cstdlib>
#include <fcntl.h>
#include <string>
#include <string_view>
#include <unistd.h>

namespace kontor::miniapp {
namespace {

/// Nobody is waited for, and nothing can be done about an error.
void tell(std::string_view name, int flags, std::string_view text) noexcept {
  const char* folder = std::getenv("KONTOR_RUN_FOLDER");
  if (!folder) return;
  try {
    const auto path = std::string(folder) + "/" + std::string(name);
    const int file = ::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC | flags, 0600);
    if (file < 0) return;
    [[maybe_unused]] const auto written = ::write(file, text.data(), text.size());
    ::close(file);
  } catch (...) {
  }
}

} // namespace

void tell_started() noexcept {
  tell("started", O_CREAT | O_EXCL, "");
}

void tell_failed() noexcept {
  tell("words", 0, "failed\n"); // a pipe that the launcher's supervisor reads
}

void tell_done() noexcept {
  tell("words", 0, "done\n");
}

} // namespace kontor::miniapp
