// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <kontor/config/error.hpp>

#include <fmt/format.h>

namespace kontor::config {

Error::Error(std::vector<std::string> messages)
    : std::runtime_error(fmt::format("{}", fmt::join(messages, "\n"))), messages_(std::move(messages)) {}

} // namespace kontor::config
