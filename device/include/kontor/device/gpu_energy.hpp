// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/device/noncopyable.hpp>

#include <dlfcn.h>
#include <string>

namespace kontor::device {

/// The energy counter of an NVIDIA GPU, read by NVML, https://docs.nvidia.com/deploy/nvml-api: the library is loaded at
/// run time, so that programs need neither it nor its header.
class GpuEnergy : NonCopyable {
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

} // namespace kontor::device
