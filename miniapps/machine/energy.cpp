// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine/energy.hpp"

#include "machine/device.hpp"
#include "machine/gather_to_root.hpp"
#include "machine/node.hpp"

#include <kontor/device/compat.hpp>
#include <kontor/device/devices.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <dlfcn.h>
#include <fstream>
#include <numeric>
#include <optional>
#include <system_error>

namespace kontor::miniapp {
namespace {

std::optional<double> microjoules_in(const std::filesystem::path& file) {
  std::ifstream stream(file);
  double number = 0;
  return stream >> number ? std::optional(number) : std::nullopt;
}

struct Package {
  std::filesystem::path file;
  double range = 0; ///< microjoules; then the counter begins at 0 again
  double last = 0;
};

} // namespace

EnergyCounter gpu_energy(std::string uuid) {
  for (const std::size_t at : {8, 13, 18, 23})
    if (uuid.size() > at) uuid.insert(at, "-");
  void* const library = ::dlopen("libnvidia-ml.so.1", RTLD_NOW); // until the program ends
  if (!library) return {"there is no libnvidia-ml.so.1"};
  using Initialise = int();
  using Find = int(const char*, void**);
  using Read = int(void*, unsigned long long*);
  const auto initialise = reinterpret_cast<Initialise*>(::dlsym(library, "nvmlInit_v2"));
  const auto find = reinterpret_cast<Find*>(::dlsym(library, "nvmlDeviceGetHandleByUUID"));
  const auto read = reinterpret_cast<Read*>(::dlsym(library, "nvmlDeviceGetTotalEnergyConsumption"));
  void* gpu = nullptr;
  if (!initialise || !find || !read || initialise() != 0 || find(("GPU-" + uuid).c_str(), &gpu) != 0)
    return {"NVML does not know the GPU"};
  unsigned long long millijoules = 0;
  if (read(gpu, &millijoules) != 0) return {"the GPU has no energy counter for this user"};
  return {.joules = [=] {
    unsigned long long now = 0;
    read(gpu, &now);
    return 1e-3 * static_cast<double>(now);
  }};
}

EnergyCounter package_energy(const std::filesystem::path& root) {
  const auto tree = root / "sys/class/powercap";
  std::vector<Package> packages;
  std::error_code none;
  for (const auto& zone : std::filesystem::directory_iterator(tree, none)) {
    std::string name;
    std::ifstream(zone.path() / "name") >> name;
    if (!zone.path().filename().string().starts_with("intel-rapl:") || !name.starts_with("package")) continue;
    const auto file = zone.path() / "energy_uj";
    const auto now = microjoules_in(file), range = microjoules_in(zone.path() / "max_energy_range_uj");
    if (!now || !range) return {fmt::format("{} cannot be read by this user", file.string())};
    packages.push_back({file, *range, *now});
  }
  if (packages.empty()) return {fmt::format("{} has no packages", tree.string())};
  return {.joules = [packages, sum = 0.0]() mutable {
    for (auto& [file, range, last] : packages) {
      const double now = microjoules_in(file).value_or(last);
      sum += 1e-6 * (now - last + (now < last ? range : 0));
      last = now;
    }
    return sum;
  }};
}

EnergyMeter::EnergyMeter(std::array<EnergyCounter, 2> gpu_and_package)
    : readings_{{{std::move(gpu_and_package[0])}, {std::move(gpu_and_package[1])}}} {}

EnergyMeter::EnergyMeter(const comm::Communicator& comm) {
  auto& [gpu, package] = readings_;
  if (device::kernels_on_host)
    gpu.counter.problem = "kernels run on the host";
  else if (ranks_of_memory(comm).rank() == 0)
    gpu.counter = gpu_energy(device::device_identity().uuid);
  if (place_on_node(comm.native()).rank == 0) package.counter = package_energy();
}

void EnergyMeter::begin(double now) {
  for (auto& reading : readings_) reading.begin = reading.counter.joules();
  begun_ = now;
}

void EnergyMeter::end(double now) {
  for (auto& reading : readings_) reading.joules = reading.counter.joules() - reading.begin;
  seconds_ = now - begun_;
}

nlohmann::ordered_json EnergyMeter::over_ranks(const comm::Communicator& comm, double seconds) const {
  nlohmann::ordered_json json;
  for (const auto& [name, reading] : {std::pair("gpu", &readings_[0]), {"package", &readings_[1]}}) {
    const auto joules = comm::gather(comm, reading->joules, 0);
    auto problems = gather_texts(comm, reading->counter.problem);
    if (seconds_ < least)
      problems.push_back(fmt::format("repeats take {:.2g} s in all, and counters need {} s", seconds_, least));
    const auto found = std::ranges::find_if(problems, [](const auto& text) { return !text.empty(); });
    if (found != problems.end())
      json[fmt::format("{}_remark", name)] = "not readable: " + *found;
    else
      json[name] = std::accumulate(joules.begin(), joules.end(), 0.0) * seconds / seconds_;
  }
  return json;
}

} // namespace kontor::miniapp
