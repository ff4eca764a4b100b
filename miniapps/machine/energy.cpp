// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine/energy.hpp"

#include "machine/device.hpp"
#include "machine/gather_to_root.hpp"
#include "machine/node.hpp"

#include <kontor/device/compat.hpp>
#include <kontor/device/devices.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace kontor::miniapp {

EnergyMeter::EnergyMeter(const comm::Communicator& comm, const std::filesystem::path& root) {
  if (place_on_node(comm.native()).rank == 0) package_.emplace(root);
  if (!device::kernels_on_host && ranks_of_memory(comm).rank() == 0) gpu_.emplace(device::device_identity().uuid);
}

void EnergyMeter::begin() {
  if (package_) package_begin_ = package_->joules();
  if (gpu_) gpu_begin_ = gpu_->joules();
}

void EnergyMeter::end() {
  package_joules_.push_back(package_ ? package_->joules() - package_begin_ : 0);
  gpu_joules_.push_back(gpu_ ? gpu_->joules() - gpu_begin_ : 0);
}

Energy EnergyMeter::over_hosts(const comm::Communicator& comm, double seconds) const {
  const std::string on_host = device::kernels_on_host ? "kernels run on the host" : "";
  return {energy_of(comm, gpu_joules_, gpu_ ? gpu_->problem() : on_host, seconds, device::GpuEnergy::resolution),
          energy_of(comm, package_joules_, package_ ? package_->problem() : "", seconds, PackageEnergy::resolution)};
}

RepeatEnergy energy_of(const comm::Communicator& comm, std::span<const double> joules, const std::string& problem,
                       double seconds, double resolution) {
  const auto all = gather_to_root(comm, joules);
  const auto problems = gather_texts(comm, problem);
  if (comm.rank() != 0) return {};
  if (const auto found = std::ranges::find_if(problems, [](const auto& text) { return !text.empty(); });
      found != problems.end())
    return {.remark = *found};
  if (seconds < resolution)
    return {.remark = fmt::format("a repeat takes {:.2g} s, and counters resolve {} s", seconds, resolution)};
  std::vector<double> repeats(joules.size());
  for (std::size_t i = 0; i < all.size(); ++i) repeats[i % repeats.size()] += all[i];
  std::ranges::sort(repeats);
  const auto n = repeats.size();
  return {.joules = n == 0 ? 0 : (repeats[(n - 1) / 2] + repeats[n / 2]) / 2};
}

} // namespace kontor::miniapp
