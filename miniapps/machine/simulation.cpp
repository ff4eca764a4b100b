// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine/simulation.hpp"

#ifdef KONTOR_SMPI
#include <kontor/comm/error.hpp>

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <map>
#include <smpi/smpi.h>
#include <sstream>

namespace kontor::miniapp {
namespace {

/// By the logarithm of the size: seconds of a unit.
using Rates = std::map<double, double>;
using Charges = std::map<std::string, Rates, std::less<>>;

std::string file_name() {
  const char* const name = std::getenv("KONTOR_CHARGES");
  return name ? name : "";
}

Charges read_charges(const std::string& name) {
  Charges charges;
  if (name.empty()) return charges;
  std::ifstream file(name);
  if (!file)
    throw comm::UsageError(fmt::format("KONTOR_CHARGES: '{}' cannot be read; it has lines \"<kernel> "
                                       "<size> <seconds a unit>\"",
                                       name));
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    std::istringstream words(line);
    std::string kernel, more;
    double size = 0, seconds = 0;
    if (!(words >> kernel) || kernel.starts_with('#')) continue;
    if (!(words >> size >> seconds) || words >> more || !(size > 0) || !(seconds >= 0))
      throw comm::UsageError(fmt::format("{}:{}: '{}'; allowed is \"<kernel> <size> <seconds a unit>\", a "
                                         "size above 0 and seconds from 0",
                                         name, number, line));
    charges[kernel][std::log(size)] = seconds;
  }
  return charges;
}

/// Each simulated rank has its own.
const Charges& charges() {
  static const auto table = read_charges(file_name());
  return table;
}

double seconds_of_unit(const Rates& rates, double size) {
  const double at = std::log(size);
  const auto above = rates.lower_bound(at);
  if (above == rates.end()) return rates.rbegin()->second;
  if (above == rates.begin()) return above->second;
  const auto below = std::prev(above);
  const double part = (at - below->first) / (above->first - below->first);
  return below->second + part * (above->second - below->second);
}

} // namespace

bool charges_computation() {
  return !charges().empty();
}

void charge(std::string_view kernel, double units, double size) {
  if (units <= 0) return;
  const auto rates = charges().find(kernel);
  if (rates == charges().end())
    throw comm::UsageError(fmt::format("{}: kernel '{}' has no line", file_name(), kernel));
  smpi_execute(units * seconds_of_unit(rates->second, size));
}

std::string words_of_simulation() {
  return charges_computation() ? "computation charged and not made" : "computation takes no time";
}

} // namespace kontor::miniapp
#endif
