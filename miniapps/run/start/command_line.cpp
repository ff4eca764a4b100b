// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "run/start/command_line.hpp"

#include "run/record/build_info.hpp"

#include <kontor/config/error.hpp>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <sstream>

namespace kontor::miniapp {

std::vector<char*> take_kokkos_arguments(int& argc, char** argv) {
  char** const end = argv + argc;
  char** const taken =
      std::stable_partition(argv, end, [](std::string_view argument) { return !argument.starts_with("--kokkos-"); });
  std::vector<char*> arguments{argv[0]};
  arguments.insert(arguments.end(), taken, end);
  argc = static_cast<int>(taken - argv);
  return arguments;
}

std::optional<std::string> parse_command_line(int argc, char** argv, std::string_view name, std::string_view summary,
                                              CommandLine& line) {
  CLI::App cli{std::string(summary), std::string(name)};
  cli.set_version_flag("--version", std::string(name) + " of Kontor " + build_info().version + " (" +
                                        build_info().git_revision + ")");
  cli.add_option("deck", line.deck, "the input deck (YAML)");
  cli.add_option("--set", line.set, "key=value: overrides the deck, for example --set comm.backend=view")
      ->take_all()
      ->allow_extra_args(false);
  cli.add_option("-o,--output", line.output, "the HDF5 file to write, instead of the deck's output.file");
  cli.add_option("--results", line.results, "also write the record (all of /run) as JSON to this file");
  cli.add_option("--restart", line.restart,
                 "resume from this checkpoint, or by NAME-checkpoint.h5 from the newest whole one of NAME.h5; "
                 "the deck may be omitted: it is in the checkpoint");
  cli.add_flag("--print-deck", line.print_deck, "print the resolved deck with every default, and stop");
  cli.add_flag("--schema", line.schema, "print the JSON schema of this mini-app's decks, and stop");
  cli.add_flag("--list-backends", line.list_backends, "print the communication backends, and stop");
  cli.add_flag("-q,--quiet", line.quiet, "no progress line and no table; figures and verdict only");
  cli.footer("Exit codes: 0 verified or verification off, 1 verification failed or inconclusive, 2 bad deck "
             "or usage, 3 failed at run time, "
             "4 ended early by SIGTERM, SIGUSR1 or checkpoint.walltime.");
  try {
    cli.parse(argc, argv);
    if (line.deck.empty() && line.restart.empty() && !line.schema && !line.list_backends)
      throw CLI::RequiredError("the input deck");
  } catch (const CLI::ParseError& error) {
    std::ostringstream text;
    if (cli.exit(error, text, text) == 0) return text.str();
    auto words = text.str();
    words.erase(words.find_last_not_of('\n') + 1);
    throw config::Error({words}, "E-USAGE-OPTION");
  }
  return std::nullopt;
}

} // namespace kontor::miniapp
