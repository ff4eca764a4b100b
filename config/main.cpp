// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// kontor-deck DECK: prints the name of the mini-app that a deck is for. Exit code 2 if it names none.

#include <kontor/config/deck.hpp>

#include <fmt/format.h>

#include <cstdio>

int main(int argc, char** argv) {
  if (argc != 2) {
    fmt::print(stderr, "usage: kontor-deck DECK\n");
    return 2;
  }
  try {
    const std::string path = argv[1];
    fmt::print("{}\n", kontor::config::Deck::parse(kontor::config::read_text(path), path).app());
    std::fflush(stdout);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 2;
  }
}
