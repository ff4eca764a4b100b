// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "problems.hpp"

#include <kontor/config/error.hpp>
#include <kontor/config/limits.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

namespace kontor::config {

void Problems::add(const Place& place, std::string message, errors::Id id) {
  problems_.push_back({place, errors::with_id(std::move(message), id)});
}

void Problems::raise() const {
  if (problems_.empty()) return;
  auto sorted = problems_;
  std::stable_sort(sorted.begin(), sorted.end(), [](const Problem& a, const Problem& b) {
    const auto key = [](const Place& p) { return std::tuple(p.order, p.line, p.column); };
    return key(a.place) < key(b.place);
  });
  std::vector<std::string> messages;
  const auto listed = std::min(sorted.size(), limits::mistakes);
  for (std::size_t i = 0; i < listed; ++i)
    messages.push_back(fmt::format("{}: {}", sorted[i].place.text(), sorted[i].message));
  if (listed < sorted.size())
    messages.back() += fmt::format("\nand {} more mistakes, which are not listed", sorted.size() - listed);
  throw Error(std::move(messages), "E-DECK-KEY"); // which none lacks
}

} // namespace kontor::config
