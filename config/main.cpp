// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// kontor-deck: what decks and studies say, for scripts. Exit code 2 if something is wrong with them.

#include <kontor/config/deck.hpp>
#include <kontor/config/study.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cstdio>

namespace {

constexpr const char* usage = "usage: kontor-deck DECK, which prints its mini-app; or for JSON\n"
                              "  --json DECK KEY=VALUE.., --study STUDY KEY=VALUE.., --study-schema";

using Words = std::vector<std::string>;

/// What to print; nothing if the words are not those of `usage`.
std::string answer(const Words& words) {
  using namespace kontor::config;
  const auto mode = words.empty() ? "" : words[0];
  const auto json = [](const nlohmann::ordered_json& found) {
    return found.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  };
  if (words.size() == 1 && mode == "--study-schema") return json(study_schema());
  if (words.size() == 1) return Deck::parse(read_text(words[0]), words[0]).app();
  if (words.size() < 2) return "";
  const Words overrides(words.begin() + 2, words.end());
  if (mode == "--json") return json(Deck::parse(read_text(words[1]), words[1], overrides).given());
  if (mode == "--study") return json(read_study(read_text(words[1]), words[1], overrides));
  return "";
}

} // namespace

int main(int argc, char** argv) {
  try {
    const auto found = answer(Words(argv + 1, argv + argc));
    fmt::print(found.empty() ? stderr : stdout, "{}\n", found.empty() ? usage : found);
    std::fflush(stdout);
    return found.empty() ? 2 : 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 2;
  }
}
