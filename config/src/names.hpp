// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kontor::config {

/// The candidate that `name` is most likely a misspelling of, if any is near.
std::optional<std::string> nearest(std::string_view name, const std::vector<std::string>& candidates);

/// "a, b or c", with `last` between the last two.
std::string listing(const std::vector<std::string>& names, std::string_view last);

} // namespace kontor::config
