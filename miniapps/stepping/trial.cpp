// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "stepping/trial.hpp"

#include <algorithm>
#include <limits>

namespace kontor::stepping {

std::vector<std::size_t> Trial::possible() const {
  std::vector<std::size_t> result;
  for (std::size_t c = 0; c < candidates.size(); ++c)
    if (!candidates[c].refusal) result.push_back(c);
  return result;
}

double Trial::limit_of(const comm::Communicator& comm, double repeat) {
  constexpr double share = 0.2;
  return std::max(comm.options().trial, share * repeat);
}

void Trial::decide() {
  std::vector<double> seconds;
  for (const auto& candidate : candidates)
    seconds.push_back(candidate.seconds.value_or(std::numeric_limits<double>::infinity()));
  chosen = comm::choose(seconds);
}

nlohmann::ordered_json Trial::record() const {
  auto table = nlohmann::ordered_json::array();
  for (const auto& [name, refusal, seconds] : candidates)
    table.push_back({{"candidate", name},
                     {"seconds", seconds.value_or(std::numeric_limits<double>::quiet_NaN())},
                     {"refusal", refusal.value_or("")}});
  return table;
}

} // namespace kontor::stepping
