// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <kontor/config/error.hpp>
#include <kontor/config/location.hpp>

#include <fmt/format.h>

namespace kontor::config {

std::string Location::text() const {
  return place.empty() || key.empty() ? place + key : fmt::format("{}: {}", place, key);
}

void Location::fail(std::string_view message, errors::Id id) const {
  const auto where = text();
  throw Error({fmt::format("{}{}{}", where, where.empty() ? "" : " ", message)}, id);
}

} // namespace kontor::config
