// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <kontor/config/text.hpp>
#include <kontor/config/unused.hpp>

#include <fmt/format.h>

namespace kontor::config {

void UnusedKeys::refuse_unless(bool used, std::string_view path, std::string_view needs) const {
  if (used) return;
  for (std::size_t i = 0; i < given_.size(); ++i) {
    const auto& [key, value] = given_[i];
    const bool below = key.starts_with(path) && (key.size() == path.size() || key[path.size()] == '.');
    if (below && value != defaults_[i].value)
      deck_.fail(key, fmt::format("is {}, but not used: {} for that; leave it out", shown(value), needs));
  }
}

} // namespace kontor::config
