// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/communicator.hpp>

#include <nlohmann/json.hpp>

#include <array>
#include <filesystem>
#include <functional>
#include <string>

namespace kontor::miniapp {

/// Local. The joules of a counter since some moment; NaN where it cannot be read.
using Joules = std::function<double()>;

/// Local. Of an NVIDIA GPU, read by NVML, https://docs.nvidia.com/deploy/nvml-api: the library is loaded at run time,
/// so that programs need neither it nor its header. `uuid` as in DeviceIdentity.
Joules gpu_energy(std::string uuid);

/// Local. Of this host's processor packages together, by Linux' powercap tree:
/// https://docs.kernel.org/power/powercap/powercap.html. They wrap around, and must be read more often. `root` is where
/// sys is, for tests.
Joules package_energy(const std::filesystem::path& root = "/");

/// Reads the energy counters from the first repeat to the last: one rank of a host those of its packages, one rank of a
/// GPU the GPU's.
class EnergyMeter {
 public:
  /// s over which counters are read at least: that of a GPU is up to 0.1 s old.
  static constexpr double least = 1;

  /// Local. Counters of this rank: of GPUs, of packages.
  explicit EnergyMeter(std::array<Joules, 2> counters) : counters_(std::move(counters)) {}
  /// Collective. Those of the machine.
  explicit EnergyMeter(const comm::Communicator&);

  /// Local. The first repeat begins; `now` are s of some clock.
  void begin(double now);
  /// Local. A repeat is complete.
  void end(double now);

  /// Collective; valid at rank 0. The object /run/energy, of a repeat that takes so many seconds: the mean power of all
  /// GPUs, or packages, times a repeat; empty where it is not known.
  nlohmann::ordered_json over_ranks(const comm::Communicator&, double seconds) const;

 private:
  std::array<Joules, 2> counters_;
  std::array<double, 2> first_{}, joules_{}; ///< at the begin; from there to the end
  double begun_ = 0, seconds_ = 0;           ///< of the clock; from there to the end
};

} // namespace kontor::miniapp
