// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace kontor::miniapp {

/// The energy counters of this host's processor packages, by Linux' powercap tree:
/// https://docs.kernel.org/power/powercap/powercap.html. They wrap around.
class PackageEnergy {
 public:
  static constexpr double resolution = 0.01; ///< s, ten updates of the counters

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

} // namespace kontor::miniapp
