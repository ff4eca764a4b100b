// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine/energy.hpp"

#include "machine/device.hpp"
#include "machine/gather_to_root.hpp"
#include "machine/node.hpp"

#include <kontor/device/compat.hpp>
#include <kontor/device/devices.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <numeric>
#include <system_error>
#include <utility>

namespace kontor::miniapp {
namespace {

std::optional<double> microjoules_in(const std::filesystem::path& file) {
  std::ifstream stream(file);
  double number = 0;
  return stream >> number ? std::optional(number) : std::nullopt;
}

} // namespace

PackageEnergy::PackageEnergy(const std::filesystem::path& root) {
  const auto tree = root / "sys/class/powercap";
  std::error_code none;
  for (const auto& zone : std::filesystem::directory_iterator(tree, none)) {
    std::string name;
    std::ifstream(zone.path() / "name") >> name;
    if (!zone.path().filename().string().starts_with("intel-rapl:") || !name.starts_with("package")) continue;
    const auto file = zone.path() / "energy_uj";
    const auto now = microjoules_in(file), range = microjoules_in(zone.path() / "max_energy_range_uj");
    if (!now || !range) {
      problem_ = fmt::format("{} cannot be read by this user", file.string());
      return;
    }
    counters_.push_back({file, *range, *now});
  }
  if (counters_.empty()) problem_ = fmt::format("{} has no packages", tree.string());
}

double PackageEnergy::joules() {
  for (auto& counter : counters_) {
    const double now = microjoules_in(counter.file).value_or(counter.last);
    const double wrapped = now < counter.last ? counter.range : 0;
    joules_ += 1e-6 * (now - counter.last + wrapped);
    counter.last = now;
  }
  return joules_;
}

EnergyMeter::EnergyMeter(const comm::Communicator& comm, const std::filesystem::path& root) {
  if (place_on_node(comm.native()).rank == 0) package_.emplace(root);
  if (!device::kernels_on_host && ranks_of_memory(comm).rank() == 0) gpu_.emplace(device::device_identity().uuid);
}

void EnergyMeter::begin(double now) {
  if (now - ended_ < least) return; // the reading goes on
  if (package_) package_begin_ = package_->joules();
  if (gpu_) gpu_begin_ = gpu_->joules();
  begun_ = now;
}

void EnergyMeter::end(double now) {
  const auto add = [](auto& counter, double& begin, double& sum) {
    if (!counter) return;
    const double read = counter->joules();
    sum += read - std::exchange(begin, read);
  };
  add(package_, package_begin_, package_joules_);
  add(gpu_, gpu_begin_, gpu_joules_);
  seconds_ += now - std::exchange(begun_, now);
  ended_ = now;
}

Energy EnergyMeter::over_hosts(const comm::Communicator& comm, double seconds) const {
  const std::string on_host = device::kernels_on_host ? "kernels run on the host" : "";
  return {energy_of(comm, gpu_joules_, gpu_ ? gpu_->problem() : on_host, seconds, seconds_),
          energy_of(comm, package_joules_, package_ ? package_->problem() : "", seconds, seconds_)};
}

RepeatEnergy energy_of(const comm::Communicator& comm, double joules, const std::string& problem, double seconds,
                       double read_over) {
  const auto all = comm::gather(comm, joules, 0);
  const auto problems = gather_texts(comm, problem);
  if (comm.rank() != 0) return {};
  if (const auto found = std::ranges::find_if(problems, [](const auto& text) { return !text.empty(); });
      found != problems.end())
    return {.remark = *found};
  if (read_over < EnergyMeter::least)
    return {.remark = fmt::format("all repeats take {:.2g} s, and counters need {} s", read_over, EnergyMeter::least)};
  return {.joules = std::accumulate(all.begin(), all.end(), 0.0) * seconds / read_over};
}

} // namespace kontor::miniapp
