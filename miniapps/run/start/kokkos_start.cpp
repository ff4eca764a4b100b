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
#include <fmt/ranges.h>

#include <csignal>
#include <new>
#include <optional>
#include <unistd.h>

namespace kontor::miniapp {
namespace {

/// Why this rank cannot compute.
std::optional<std::string> refusal() {
  const auto problem = device::device_problem();
  if (problem.empty()) return std::nullopt;
  return errors::with_id(
      fmt::format("this build computes on GPUs, but {} has none that can be used: {}; start it where there are "
                  "GPUs that the job and CUDA_VISIBLE_DEVICES or HIP_VISIBLE_DEVICES do not hide",
                  host_name(), problem),
      "E-GPU-MISSING");
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
  const auto given =
      fmt::format("{}", fmt::join(std::vector<std::string>(arguments.begin() + 1, arguments.end()), " "));
  try {
    Kokkos::initialize(argc, arguments.data());
  } catch (const std::bad_alloc&) {
    problem = "Kokkos could not be initialised: out of memory [E-MEMORY]";
  } catch (const std::exception& error) {
    const std::string_view what = error.what();
    problem = fmt::format("Kokkos could not be initialised with '{}' and the variables KOKKOS_*: {}", given,
                          what.substr(0, what.find('\n'))); // no traceback
  }
  ::sigaction(SIGABRT, &before, nullptr);
  if (!problem && argc > 1) // Kokkos has taken all that it knows
    problem =
        fmt::format("{}: Kokkos has no such option; --kokkos-help shows its options", config::shown(arguments[1]));
  return problem;
}

} // namespace

bool start_kokkos(std::vector<char*> arguments) {
  if (refused(refusal())) return false;
  auto device = device_argument(MPI_COMM_WORLD, arguments);
  if (!device.empty()) arguments.push_back(device.data());
  return !refused(initialise(std::move(arguments)));
}

} // namespace kontor::miniapp
