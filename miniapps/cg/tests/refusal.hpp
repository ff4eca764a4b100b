// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "cg/options.hpp"
#include "run/tests/refusal.hpp"

#include <kontor/config/deck.hpp>

#include <string>

namespace kontor::cg::test {

using miniapp::test::error_of;
using miniapp::test::expect_facts;

/// The message with which the options of a deck are refused on so many ranks; empty if they are not.
inline std::string refusal_of(const std::string& text, int ranks = 1) {
  return error_of([&] {
    const auto deck = config::Deck::parse(text, "deck.yaml");
    Options options;
    deck.read([&](config::Visitor& v) { options.describe(v); });
    options.resolve(deck, ranks);
  });
}

} // namespace kontor::cg::test
