// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine/package_energy.hpp"

#include <fmt/format.h>

#include <fstream>
#include <optional>
#include <system_error>

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

} // namespace kontor::miniapp
