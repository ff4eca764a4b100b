// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <kontor/config/error.hpp>
#include <kontor/config/location.hpp>
#include <kontor/config/text.hpp>

#include <fmt/format.h>

namespace kontor::config {
namespace {

/// Whatever a message quotes of a deck, a formula or a file's name, no control character reaches a terminal.
std::string joined(std::vector<std::string>& messages, errors::Id id) {
  for (auto& message : messages) message = errors::with_id(printable(message, '\n'), id);
  return fmt::format("{}", fmt::join(messages, "\n"));
}

} // namespace

Error::Error(std::vector<std::string> messages, errors::Id id)
    : std::runtime_error(joined(messages, id)), messages_(std::move(messages)) {}

std::string Location::text() const {
  return place.empty() || key.empty() ? place + key : fmt::format("{}: {}", place, key);
}

void Location::fail(std::string_view message, errors::Id id) const {
  const auto where = text();
  throw Error({fmt::format("{}{}{}", where, where.empty() ? "" : " ", message)}, id);
}

} // namespace kontor::config
