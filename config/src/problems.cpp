// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "problems.hpp"

#include <kontor/config/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

namespace kontor::config {

void Problems::add(const Place& place, std::string message) {
  problems_.push_back({place, std::move(message)});
}

void Problems::raise() const {
  if (problems_.empty()) return;
  auto sorted = problems_;
  std::stable_sort(sorted.begin(), sorted.end(), [](const Problem& a, const Problem& b) {
    const auto key = [](const Place& p) { return std::tuple(p.order, p.line, p.column); };
    return key(a.place) < key(b.place);
  });
  std::vector<std::string> messages;
  messages.reserve(sorted.size());
  for (const auto& problem : sorted)
    messages.push_back(fmt::format("{}: {}", problem.place.text(), problem.message));
  throw Error(std::move(messages));
}

} // namespace kontor::config
