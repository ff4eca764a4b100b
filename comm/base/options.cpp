// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The options in words.
#include <kontor/comm/error.hpp>
#include <kontor/comm/options.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdlib>
#include <utility>

namespace kontor::comm {
namespace {

template <class E, std::size_t n>
const char* name_in(const std::array<NamedValue<E>, n>& names, E value) {
  const auto found = std::ranges::find(names, value, &NamedValue<E>::value);
  return found == names.end() ? "?" : found->name;
}

template <class E, std::size_t n>
void set(E& value, const std::array<NamedValue<E>, n>& names, std::string_view member, std::string_view text) {
  std::string all;
  for (const auto& [name, named] : names) {
    all += fmt::format("{}{}", all.empty() ? "" : ", ", name);
    if (text == name) {
      value = named;
      return;
    }
  }
  throw UsageError(fmt::format("{} is '{}'; its values are {}", member, text, all));
}

void set(double& seconds, std::string_view member, std::string_view text) {
  const char* const end = text.data() + text.size();
  const auto [last, code] = std::from_chars(text.data(), end, seconds);
  if (code != std::errc() || last != end || !(seconds >= 0))
    throw UsageError(fmt::format("{} is '{}'; it is a number of seconds, 0 or more", member, text));
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

Options options_of(std::string_view words, Options usual) {
  constexpr std::string_view spaces = " ,\t\n";
  while (words.find_first_not_of(spaces) != std::string_view::npos) {
    words.remove_prefix(words.find_first_not_of(spaces));
    const auto word = words.substr(0, words.find_first_of(spaces));
    words.remove_prefix(word.size());
    const auto member = word.substr(0, word.find('='));
    const auto value = word.substr(std::min(word.size(), member.size() + 1));
    if (member == "backend")
      usual.backend = value;
    else if (member == "pattern")
      set(usual.pattern, pattern_names, member, value);
    else if (member == "packing")
      set(usual.packing, packing_names, member, value);
    else if (member == "path")
      set(usual.path, path_names, member, value);
    else if (member == "check")
      set(usual.check, check_names, member, value);
    else if (member == "trial")
      set(usual.trial, member, value);
    else if (member == "timeout")
      set(usual.timeout, member, value);
    else
      throw UsageError(fmt::format("there is no option '{}'; backend, pattern, packing, path, check, trial and timeout "
                                   "are given as backend=view",
                                   word));
  }
  return usual;
}

Options options_of_environment(Options usual) {
  const char* const words = std::getenv("KONTOR_COMM");
  return words ? options_of(words, std::move(usual)) : usual;
}

} // namespace kontor::comm
