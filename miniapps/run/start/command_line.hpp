// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kontor::miniapp {

struct CommandLine {
  std::string deck;
  std::vector<std::string> set; ///< "key=value", in the order given
  std::string output;           ///< -o; empty: the deck's output.file
  std::string results;          ///< --results; empty: none
  std::string restart;          ///< --restart; empty: the deck's restart
  bool print_deck = false;
  bool schema = false;
  bool list_backends = false;
  bool quiet = false;
};

/// What parsing ended with when there is nothing to run: help, the version or a mistake.
struct EarlyExit {
  int code = 0;
  std::string text;
};

/// Local. Takes the arguments that begin with --kokkos- out of argv, for Kokkos::initialize. Kokkos must not see the
/// others: it would answer --help as well.
std::vector<char*> take_kokkos_arguments(int& argc, char** argv);

/// Local. Fills `line`; a result means: print its text and leave with its code (0 for help, else 2).
std::optional<EarlyExit> parse_command_line(int argc, char** argv, std::string_view name, std::string_view summary,
                                            CommandLine& line);

} // namespace kontor::miniapp
