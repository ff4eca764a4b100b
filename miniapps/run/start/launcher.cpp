// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "run/start/launcher.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <iterator>
#include <string_view>
#include <unistd.h>

namespace kontor::miniapp {
namespace {

/// What launchers tell each of their processes: PMIx, PMI, Flux, Slurm. The last may be that of a job's script.
constexpr const char* rank_variables[] = {"PMIX_RANK", "PMI_RANK", "FLUX_TASK_RANK", "SLURM_PROCID"};

/// Nobody is waited for, no memory is asked for, and nothing can be done about an error.
void tell(const char* name, int flags, std::string_view text) noexcept {
  const char* const folder = std::getenv("KONTOR_RUN_FOLDER");
  char path[4096];
  if (!folder || std::snprintf(path, sizeof path, "%s/%s", folder, name) >= static_cast<int>(sizeof path)) return;
  const int file = ::open(path, O_WRONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC | flags, 0600);
  if (file < 0) return;
  [[maybe_unused]] const auto written = ::write(file, text.data(), text.size());
  ::close(file);
}

} // namespace

void tell_started() noexcept { tell("started", O_CREAT | O_EXCL, ""); }

void tell_failed() noexcept {
  tell("words", 0, "failed\n"); // a pipe that the launcher's supervisor reads
}

void tell_done() noexcept {
  tell("done", O_CREAT | O_EXCL, "");
  tell("words", 0, "done\n");
}

std::optional<std::string_view> rank_by_launcher() noexcept {
  for (const char* variable : rank_variables)
    if (const char* rank = std::getenv(variable)) return rank;
  return std::nullopt;
}

bool first_of_launcher() {
  return std::all_of(std::begin(rank_variables), std::end(rank_variables), [](const char* variable) {
    const char* rank = std::getenv(variable);
    return !rank || std::string_view(rank) == "0";
  });
}

} // namespace kontor::miniapp
