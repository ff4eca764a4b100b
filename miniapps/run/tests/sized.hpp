// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/config/deck.hpp>

#include <string>

namespace kontor::miniapp::test {

/// The resolved options of a deck "app: <app>", `text`, on so many ranks, each of which has so much memory.
template <class Options>
Options sized(const std::string& app, const std::string& text, int ranks, double free_memory) {
  Options options;
  const auto deck = config::Deck::parse("app: " + app + "\n" + text + "\n", "deck.yaml");
  deck.read([&](config::Visitor& v) { options.describe(v); });
  if constexpr (requires { options.resolve_sizes(deck, ranks, [] { return 0.0; }); })
    options.resolve_sizes(deck, ranks, [&] { return free_memory; });
  options.resolve(deck, ranks);
  return options;
}

} // namespace kontor::miniapp::test
