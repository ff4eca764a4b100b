// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "run/start/start_timeout.hpp"

#include "machine/simulation.hpp"
#include "run/start/guard.hpp"
#include "run/start/launcher.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <unistd.h>

namespace kontor::miniapp {
namespace {

constexpr unsigned default_seconds = 300;
constexpr unsigned most_seconds = 999'999;
constexpr const char* variable = "KONTOR_START_SECONDS";

/// Made before it is needed: a handler may not.
struct Words {
  std::array<char, 512> text;
  std::size_t length = 0;
};

Words mpi_does_not_start, messages_do_not_come;
volatile std::sig_atomic_t in_mpi_init = 1;

extern "C" void give_up(int /*signal*/) {
  const auto& words = in_mpi_init ? mpi_does_not_start : messages_do_not_come;
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, words.text.data(), words.length);
  tell_failed();
  ::_exit(exit_failed);
}

std::optional<unsigned> seconds_allowed() noexcept {
  const char* const text = std::getenv(variable);
  if (!text) return default_seconds;
  const std::string_view number = text;
  unsigned seconds = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), seconds);
  if (error != std::errc() || end != number.data() + number.size() || seconds > most_seconds) return std::nullopt;
  return seconds;
}

void prepare_words(unsigned seconds) noexcept {
  const auto rank = rank_by_launcher();
  const auto write = [&](Words& words, std::string_view what, std::string_view why) {
    const auto written = fmt::format_to_n(
        words.text.data(), words.text.size(),
        "{}{}{}{} within {} s: {} ({}={} sets this limit, 0 is none) [E-LAUNCH-TIMEOUT]\n", rank ? "rank " : "",
        rank.value_or(""), rank ? ": " : "", what, seconds, why, variable, seconds);
    words.length = std::min(written.size, words.text.size());
  };
  write(mpi_does_not_start, "MPI_Init has not returned",
        "not all processes of the launcher have come there, or they do not reach each other");
  write(messages_do_not_come, "the first messages of other ranks have not come",
        "a rank has stopped, the network that MPI has chosen does not join the ranks (a firewall, a wrong "
        "interface), or MPI got no memory that ranks share (ulimit -v, /dev/shm); what MPI said above may "
        "tell");
}

} // namespace

void limit_start() noexcept {
  const auto seconds = seconds_allowed().value_or(default_seconds);
  if (simulated || seconds == 0) return;
  prepare_words(seconds);
  std::signal(SIGALRM, give_up);
  ::alarm(seconds);
}

std::string problem_with_start_limit() {
  if (seconds_allowed()) return {};
  return fmt::format("{} is '{}'; allowed is a whole number of seconds up to {} [E-USAGE-OPTION]\n", variable,
                     std::getenv(variable), most_seconds);
}

void mpi_has_started() noexcept { in_mpi_init = 0; }

void end_start_limit() noexcept {
  if (simulated) return;
  ::alarm(0);
  std::signal(SIGALRM, SIG_DFL);
}

} // namespace kontor::miniapp
