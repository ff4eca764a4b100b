// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compute times of simulated ranks: part of the mini-apps of the preset smpi.
#include "machine/simulation.hpp"

#include <kontor/comm/error.hpp>

#include <fmt/format.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <smpi/smpi.h>
#include <sstream>

namespace kontor::miniapp {
namespace {

using Points = std::map<double, double>; ///< seconds by size
using ComputeTimes = std::map<std::string, Points, std::less<>>;

std::string file_name() {
  const char* const name = std::getenv("KONTOR_KERNEL_TIMES");
  return name ? name : "";
}

ComputeTimes read_compute_times(const std::string& name) {
  ComputeTimes times;
  if (name.empty()) return times;
  std::ifstream file(name);
  if (!file)
    throw comm::UsageError(fmt::format("KONTOR_KERNEL_TIMES: '{}' cannot be read; it has lines \"<kernel> "
                                       "<size> <seconds>\"",
                                       name),
                           comm::Axis::none, "E-USAGE-OPTION");
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    std::istringstream words(line);
    std::string kernel, more;
    double size = 0, seconds = 0;
    if (!(words >> kernel) || kernel.starts_with('#')) continue;
    if (!(words >> size >> seconds) || words >> more || !(size > 0) || !(seconds >= 0))
      throw comm::UsageError(fmt::format("{}:{}: '{}'; allowed is \"<kernel> <size> <seconds>\", a "
                                         "size above 0 and seconds from 0",
                                         name, number, line),
                             comm::Axis::none, "E-USAGE-OPTION");
    times[kernel][size] = seconds;
  }
  return times;
}

/// Each simulated rank has its own.
const ComputeTimes& compute_times() {
  static const auto table = read_compute_times(file_name());
  return table;
}

double seconds_of(const Points& points, double size) {
  const auto above = points.lower_bound(size);
  const auto proportional = [&](const auto& point) { return point.second * size / point.first; };
  if (above == points.end()) return proportional(*points.rbegin());
  if (above == points.begin()) return proportional(*above);
  const auto below = std::prev(above);
  const double part = (size - below->first) / (above->first - below->first);
  return below->second + part * (above->second - below->second);
}

} // namespace

/// Lines of the file are "<kernel> <size> <seconds>": what a kernel takes on a rank that has so many cells, rows or
/// flops. Seconds of sizes between two of the file lie on a line; outside, a unit takes what it takes at the nearest
/// one. Without a file kernels take no time.
void add_compute_time(std::string_view kernel, double units, double size) {
  if (units <= 0 || compute_times().empty()) return;
  const auto points = compute_times().find(kernel);
  if (points == compute_times().end())
    throw comm::UsageError(fmt::format("{}: kernel '{}' has no line", file_name(), kernel), comm::Axis::none,
                           "E-USAGE-OPTION");
  smpi_execute(units / size * seconds_of(points->second, size));
}

} // namespace kontor::miniapp
