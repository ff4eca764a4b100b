// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "run/start/kokkos_start.hpp"

#include "machine/device.hpp"
#include "machine/node.hpp"
#include "run/start/guard.hpp"
#include "run/start/messages.hpp"

#include <kontor/comm/error.hpp>
#include <kontor/comm/mpi_check.hpp>
#include <kontor/config/text.hpp>
#include <kontor/device/devices.hpp>
#include <kontor/mpi/agree.hpp>

#include <Kokkos_Core.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <new>
#include <optional>
#include <unistd.h>

namespace kontor::miniapp {
namespace {

/// The settings of Kokkos that take a whole number, in versions 3.4 to 5: --kokkos-device-id=1, or KOKKOS_DEVICE_ID=1.
/// Some take a second one after a comma.
constexpr std::string_view numbers[] = {"threads",  "num-threads", "numa",         "device",     "device-id",
                                        "ndevices", "num-devices", "rand-devices", "skip-device"};
constexpr std::string_view others[] = {"disable-warnings", "print-configuration", "tune-internals",
                                       "map-device-id-by", "tools-libs",          "tools-library",
                                       "tools-args",       "tools-help",          "help"};
constexpr std::string_view prefix = "--kokkos-";

struct Setting {
  std::string shown; ///< as the user wrote it
  std::string_view name;
  std::string value;
};

std::string variable_of(std::string_view name) {
  std::string variable = fmt::format("KOKKOS_{}", name);
  std::transform(variable.begin(), variable.end(), variable.begin(),
                 [](unsigned char c) { return c == '-' ? '_' : static_cast<char>(std::toupper(c)); });
  return variable;
}

/// The settings that take numbers, as arguments and as variables.
std::vector<Setting> settings(const std::vector<char*>& arguments) {
  std::vector<Setting> found;
  for (const auto name : numbers) {
    for (const std::string_view argument : arguments) {
      if (!argument.starts_with(prefix)) continue;
      const auto equals = std::min(argument.find('='), argument.size());
      if (argument.substr(prefix.size(), equals - prefix.size()) != name) continue;
      found.push_back(
          {std::string(argument), name, std::string(argument.substr(std::min(equals + 1, argument.size())))});
    }
    const auto variable = variable_of(name);
    if (const char* value = std::getenv(variable.c_str()))
      found.push_back({fmt::format("{}={}", variable, value), name, value});
  }
  return found;
}

std::optional<int> whole_number(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// An option that no version of Kokkos has, and each would ignore or warn of.
std::optional<std::string> unknown_option(const std::vector<char*>& arguments) {
  for (const std::string_view argument : arguments) {
    if (!argument.starts_with(prefix)) continue;
    const auto name = argument.substr(prefix.size(), argument.find('=') - prefix.size());
    if (std::ranges::find(numbers, name) == std::end(numbers) && std::ranges::find(others, name) == std::end(others))
      return fmt::format("{}: Kokkos has no such option; --kokkos-help shows those of this version",
                         config::shown(argument));
  }
  return std::nullopt;
}

/// What Kokkos would not take on this rank.
std::optional<std::string> refusal(const std::vector<char*>& arguments) {
  if (auto unknown = unknown_option(arguments)) return unknown;
  const int devices = device::device_count();
  for (const auto& [shown, name, value] : settings(arguments)) {
    const auto comma = value.find(',');
    const auto number = whole_number(std::string_view(value).substr(0, comma));
    if (!number || (comma != std::string::npos && !whole_number(std::string_view(value).substr(comma + 1))))
      return fmt::format("{}: Kokkos expects a whole number, found \"{}\"", shown, value);
    if (devices > 0 && (name == "device" || name == "device-id") && *number >= devices)
      return fmt::format("{}: {} has {} visible GPUs, so the number is from 0 to {}", shown, host_name(), devices,
                         devices - 1);
  }
  if (const auto problem = device::device_problem(); !problem.empty())
    return errors::with_id(
        fmt::format("this build computes on GPUs, but {} has none that can be used: {}; start it where there are "
                    "GPUs that the job and CUDA_VISIBLE_DEVICES or HIP_VISIBLE_DEVICES do not hide",
                    host_name(), problem),
        "E-GPU-MISSING");
  return std::nullopt;
}

/// Collective over MPI_COMM_WORLD. Whether a rank has a problem; the lowest such rank's is told once.
bool refused(const std::optional<std::string>& problem) {
  const auto first = mpi::first_problem<comm::Error>(MPI_COMM_WORLD, problem);
  if (!first) return false;
  int rank = 0;
  comm::mpi::check(MPI_Comm_rank(MPI_COMM_WORLD, &rank), "MPI_Comm_rank");
  if (rank == 0) to_stderr(fmt::format("{}\n", errors::with_id(config::printable(first->text), "E-USAGE-OPTION")));
  return true;
}

/// Later versions of Kokkos print a line and abort, where 3.4 throws.
extern "C" void exit_instead(int) {
  constexpr std::string_view text = "Kokkos could not be initialised; it says why above [E-USAGE-OPTION]\n";
  const auto written = ::write(STDERR_FILENO, text.data(), text.size());
  ::_exit(written < 0 ? exit_failed : exit_user_error);
}

std::optional<std::string> initialise(std::vector<char*> arguments) {
  struct sigaction before {};
  struct sigaction during {};
  during.sa_handler = exit_instead;
  ::sigaction(SIGABRT, &during, &before);
  std::optional<std::string> problem;
  int argc = static_cast<int>(arguments.size());
  try {
    Kokkos::initialize(argc, arguments.data());
  } catch (const std::bad_alloc&) {
    problem = "Kokkos could not be initialised: out of memory [E-MEMORY]";
  } catch (const std::exception& error) {
    const std::string_view what = error.what();
    problem = fmt::format("Kokkos could not be initialised: {}", what.substr(0, what.find('\n'))); // no traceback
  }
  ::sigaction(SIGABRT, &before, nullptr);
  return problem;
}

} // namespace

bool start_kokkos(std::vector<char*> arguments) {
  if (refused(refusal(arguments))) return false;
  auto device = device_argument(MPI_COMM_WORLD, arguments);
  if (!device.empty()) arguments.push_back(device.data());
  return !refused(initialise(std::move(arguments)));
}

} // namespace kontor::miniapp
