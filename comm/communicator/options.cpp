// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The options in words.
#include <kontor/comm/options.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

namespace kontor::comm {
namespace {

template <class E, std::size_t n>
const char* name_in(const std::array<NamedValue<E>, n>& names, E value) {
  const auto found = std::ranges::find(names, value, &NamedValue<E>::value);
  return found == names.end() ? "?" : found->name;
}

} // namespace

const char* to_string(Pattern pattern) { return name_in(pattern_names, pattern); }
const char* to_string(Packing packing) { return name_in(packing_names, packing); }
const char* to_string(Path path) { return name_in(path_names, path); }
const char* to_string(CheckLevel check) { return name_in(check_names, check); }

std::string to_string(const Options& options) {
  auto text =
      fmt::format("{}, {}, packing {}", options.backend, to_string(options.pattern), to_string(options.packing));
  if (options.path != Path::automatic) text += fmt::format(", path {}", to_string(options.path));
  return text;
}

} // namespace kontor::comm
