// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine/energy.hpp"

#include "machine/device.hpp"
#include "machine/node.hpp"

#include <kontor/comm/reductions.hpp>
#include <kontor/device/compat.hpp>
#include <kontor/device/devices.hpp>

#include <cmath>
#include <dlfcn.h>
#include <fstream>
#include <limits>
#include <system_error>
#include <vector>

namespace kontor::miniapp {
namespace {

constexpr double unreadable = std::numeric_limits<double>::quiet_NaN();

double microjoules_in(const std::filesystem::path& file) {
  std::ifstream stream(file);
  double number = 0;
  return stream >> number ? number : unreadable;
}

struct Package {
  std::filesystem::path file;
  double range = 0; ///< microjoules; then the counter begins at 0 again
  double last = 0;
};

} // namespace

Joules gpu_energy(std::string uuid) {
  for (const std::size_t at : {8, 13, 18, 23})
    if (uuid.size() > at) uuid.insert(at, "-");
  void* const library = ::dlopen("libnvidia-ml.so.1", RTLD_NOW); // until the program ends
  const auto function = [&](const char* name) { return library ? ::dlsym(library, name) : nullptr; };
  const auto initialise = reinterpret_cast<int (*)()>(function("nvmlInit_v2"));
  const auto find = reinterpret_cast<int (*)(const char*, void**)>(function("nvmlDeviceGetHandleByUUID"));
  const auto read =
      reinterpret_cast<int (*)(void*, unsigned long long*)>(function("nvmlDeviceGetTotalEnergyConsumption"));
  void* gpu = nullptr;
  if (!initialise || !find || !read || initialise() != 0 || find(("GPU-" + uuid).c_str(), &gpu) != 0)
    return [] { return unreadable; };
  return [=] {
    unsigned long long millijoules = 0;
    return read(gpu, &millijoules) == 0 ? 1e-3 * static_cast<double>(millijoules) : unreadable;
  };
}

Joules package_energy(const std::filesystem::path& root) {
  std::vector<Package> packages;
  std::error_code none;
  for (const auto& zone : std::filesystem::directory_iterator(root / "sys/class/powercap", none)) {
    std::string name;
    std::ifstream(zone.path() / "name") >> name;
    if (!zone.path().filename().string().starts_with("intel-rapl:") || !name.starts_with("package")) continue;
    const auto file = zone.path() / "energy_uj";
    packages.push_back({file, microjoules_in(zone.path() / "max_energy_range_uj"), microjoules_in(file)});
  }
  return [packages, sum = packages.empty() ? unreadable : 0]() mutable {
    for (auto& [file, range, last] : packages) {
      const double now = microjoules_in(file);
      sum += 1e-6 * (now - last + (now < last ? range : 0));
      last = now;
    }
    return sum;
  };
}

EnergyMeter::EnergyMeter(const comm::Communicator& comm) {
  for (auto& joules : counters_) joules = [] { return 0.0; }; // another rank reads it
  if (device::kernels_on_host || ranks_of_memory(comm).rank() == 0)
    counters_[0] = gpu_energy(device::kernels_on_host ? "" : device::device_identity().uuid);
  if (node_communicator(comm).rank() == 0) counters_[1] = package_energy();
}

void EnergyMeter::begin(double now) {
  for (std::size_t i = 0; i < 2; ++i) first_[i] = counters_[i]();
  begun_ = now;
}

void EnergyMeter::end(double now) {
  for (std::size_t i = 0; i < 2; ++i) joules_[i] = counters_[i]() - first_[i];
  seconds_ = now - begun_;
}

nlohmann::ordered_json EnergyMeter::over_ranks(const comm::Communicator& comm, double seconds) const {
  auto json = nlohmann::ordered_json::object();
  const char* const names[] = {"gpu", "package"};
  for (std::size_t i = 0; i < 2; ++i) {
    const double joules = comm::reduce(comm, joules_[i], comm::ReduceOp::sum, 0);
    if (std::isfinite(joules) && seconds_ >= least) json[names[i]] = joules * seconds / seconds_;
  }
  return json;
}

} // namespace kontor::miniapp
