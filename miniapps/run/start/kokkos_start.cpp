// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "run/start/kokkos_start.hpp"

#include "machine/device.hpp"
#include "machine/node.hpp"

#include <kontor/comm/error.hpp>
#include <kontor/config/error.hpp>
#include <kontor/device/devices.hpp>
#include <kontor/mpi/agree.hpp>

#include <Kokkos_Core.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <new>
#include <optional>
#include <string_view>

namespace kontor::miniapp {
namespace {

/// Why this rank cannot compute.
std::optional<std::string> refusal() {
  const auto problem = device::device_problem();
  if (problem.empty()) return std::nullopt;
  return fmt::format("this build computes on GPUs, but {} has none that can be used: {}; start it where there are GPUs "
                     "that the job and CUDA_VISIBLE_DEVICES or HIP_VISIBLE_DEVICES do not hide",
                     host_name(), problem);
}

} // namespace

void start_kokkos(std::vector<char*> arguments) {
  if (const auto first = mpi::first_problem<comm::Error>(MPI_COMM_WORLD, refusal()))
    throw config::Error({first->text}, "E-GPU-MISSING");
  auto device = device_argument(MPI_COMM_WORLD, arguments);
  if (!device.empty()) arguments.push_back(device.data());
  int argc = static_cast<int>(arguments.size());
  const std::vector<std::string_view> given(arguments.begin() + 1, arguments.end());
  try {
    Kokkos::initialize(argc, arguments.data());
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    const std::string_view what = error.what();
    throw config::Error({fmt::format("Kokkos could not be initialised with '{}' and the variables KOKKOS_*: {}",
                                     fmt::join(given, " "), what.substr(0, what.find('\n')))}, // no traceback
                        "E-USAGE-OPTION");
  }
  if (argc > 1) // Kokkos takes all that it knows
    throw config::Error({fmt::format("{}: Kokkos has no such option", arguments[1])}, "E-USAGE-OPTION");
}

} // namespace kontor::miniapp
