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

/// Local. Takes the arguments that begin with --kokkos- out of argv, for Kokkos::initialize. Kokkos must not see the
/// others: it would answer --help as well.
std::vector<char*> take_kokkos_arguments(int& argc, char** argv);

/// Local. Fills `line`. Returns what is asked for instead of a run: the help or the version. Throws config::Error.
std::optional<std::string> parse_command_line(int argc, char** argv, std::string_view name, std::string_view summary,
                                              CommandLine& line);

} // namespace kontor::miniapp
