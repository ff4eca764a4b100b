// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/communicator.hpp>
#include <kontor/device/noncopyable.hpp>

#include <dlfcn.h>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace kontor::miniapp {

/// The energy counter of an NVIDIA GPU, read by NVML, https://docs.nvidia.com/deploy/nvml-api: the library is loaded at
/// run time, so that programs need neither it nor its header.
class GpuEnergy : device::NonCopyable {
 public:
  /// Local. `uuid` as in DeviceIdentity.
  explicit GpuEnergy(std::string uuid) {
    for (const std::size_t at : {8, 13, 18, 23})
      if (uuid.size() > at) uuid.insert(at, "-");
    library_ = dlopen("libnvidia-ml.so.1", RTLD_NOW);
    if (!library_) {
      problem_ = "there is no libnvidia-ml.so.1";
      return;
    }
    using Initialise = int (*)();
    using Find = int (*)(const char*, void**);
    const auto initialise = function<Initialise>("nvmlInit_v2");
    const auto find = function<Find>("nvmlDeviceGetHandleByUUID");
    read_ = function<Read>("nvmlDeviceGetTotalEnergyConsumption");
    if (!initialise || !find || !read_ || initialise() != 0 || find(("GPU-" + uuid).c_str(), &gpu_) != 0)
      problem_ = "NVML does not know the GPU";
    else if (unsigned long long ignored = 0; read_(gpu_, &ignored) != 0)
      problem_ = "the GPU has no energy counter for this user";
  }
  ~GpuEnergy() {
    if (library_) dlclose(library_);
  }

  /// Why the counter cannot be read; empty if it can.
  const std::string& problem() const { return problem_; }
  /// Local. Since some moment; 0 where there is a problem.
  double joules() const {
    unsigned long long millijoules = 0;
    if (problem_.empty()) read_(gpu_, &millijoules);
    return 1e-3 * static_cast<double>(millijoules);
  }

 private:
  using Read = int (*)(void*, unsigned long long*);
  template <class Function>
  Function function(const char* name) const {
    return reinterpret_cast<Function>(dlsym(library_, name));
  }

  void* library_ = nullptr;
  void* gpu_ = nullptr;
  Read read_ = nullptr;
  std::string problem_;
};

/// The energy counters of this host's processor packages, by Linux' powercap tree:
/// https://docs.kernel.org/power/powercap/powercap.html. They wrap around.
class PackageEnergy {
 public:
  /// Local. `root` is where sys is, for tests.
  explicit PackageEnergy(const std::filesystem::path& root = "/");

  /// Why the counters cannot be read; empty if they can.
  const std::string& problem() const { return problem_; }
  /// Local. J of all packages since construction, if it is called more often than counters wrap around.
  double joules();

 private:
  struct Counter {
    std::filesystem::path file;
    double range = 0; ///< microjoules; then it begins at 0 again
    double last = 0;
  };
  std::string problem_;
  std::vector<Counter> counters_;
  double joules_ = 0;
};

/// Energy of a repeat.
struct RepeatEnergy {
  double joules = 0;       ///< of all GPUs, or packages, of all hosts: mean power over all repeats, times a repeat
  std::string remark = {}; ///< why there is no such number; else empty
};
struct Energy {
  RepeatEnergy gpu, package;
};

/// Reads the energy counters over all repeats: one rank of a host those of its packages, one rank of a GPU the GPU's.
/// What lies between two repeats counts if it is too short to be read by itself.
class EnergyMeter {
 public:
  /// Collective. `root` is where sys is, for tests.
  explicit EnergyMeter(const comm::Communicator&, const std::filesystem::path& root = "/");

  /// s over which counters are read at least: that of a GPU is up to 0.1 s old.
  static constexpr double least = 1;

  /// Local. A repeat begins; `now` are s of some clock.
  void begin(double now);
  /// Local. The repeat that began last is complete.
  void end(double now);

  /// Collective; valid at rank 0. A repeat takes so many seconds.
  Energy over_hosts(const comm::Communicator&, double seconds) const;

 private:
  std::optional<PackageEnergy> package_; ///< none: another rank of the host reads
  std::optional<GpuEnergy> gpu_;         ///< the same of the GPU
  double package_begin_ = 0, gpu_begin_ = 0, begun_ = 0, ended_ = -2 * least;
  double package_joules_ = 0, gpu_joules_ = 0, seconds_ = 0; ///< read so far, and in how long
};

/// Collective; valid at rank 0. Of what each rank has read in `read_over` seconds; a rank that has no counter has read
/// 0.
RepeatEnergy energy_of(const comm::Communicator&, double joules, const std::string& problem, double seconds,
                       double read_over);

} // namespace kontor::miniapp
