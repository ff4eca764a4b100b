// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "run/mini_app.hpp"
#include "run/options.hpp"

#include <kontor/config/deck.hpp>
#include <kontor/config/visitor.hpp>

namespace kontor::miniapp {

/// A mini-app as a run sees it: its options, and how to make it from them.
struct App {
  std::string name;
  std::string summary; ///< a line for --help

  /// Local. Names the app's own keys of the deck; those of every app (comm, measure, output) are not among them.
  std::function<void(config::Visitor&)> describe;
  /// Collective, after the deck has been read. Sizes that depend on the ranks or on their memory become plain ones,
  /// before the deck is printed. free_memory() is collective: the bytes that each rank may take. Throws config::Error
  /// on all ranks.
  std::function<void(const config::Deck&, int ranks, const std::function<double()>& free_memory)> resolve_sizes;
  /// Local, after that. Resolves defaults that depend on other keys, and rejects what
  /// cannot run by deck.fail(). Called with the same arguments on all ranks.
  std::function<void(const config::Deck&, int ranks, const RunOptions&)> resolve;
  /// Collective. Options are resolved.
  std::function<std::unique_ptr<MiniApp>(const RunContext&)> make;

  /// Keys of the app's own that may differ when a run resumes from a checkpoint: "solver.tolerance", or a section,
  /// "decomposition.". None: the app writes no checkpoints.
  std::optional<std::vector<std::string>> restart_may_change = {};
  /// Whether the app's data lie in huge pages (machine/huge_pages.hpp).
  bool huge_pages = false;
};

/// Local. The app of an Options struct with describe(config::Visitor&), resolve(const config::Deck&, int ranks, const
/// RunOptions&); with resolve_sizes(const config::Deck&, int ranks, const std::function<double()>&) if it has one.
/// make(options, context) returns a std::unique_ptr to the app.
template <class Options, class Make>
App app_of(std::string name, std::string summary, Make make) {
  const auto options = std::make_shared<Options>();
  return {.name = std::move(name),
          .summary = std::move(summary),
          .describe = [options](config::Visitor& visitor) { options->describe(visitor); },
          .resolve_sizes =
              [options](const config::Deck& deck, int ranks, const std::function<double()>& free) {
                if constexpr (requires { options->resolve_sizes(deck, ranks, free); })
                  options->resolve_sizes(deck, ranks, free);
              },
          .resolve = [options](const config::Deck& deck, int ranks,
                               const RunOptions& run) { options->resolve(deck, ranks, run); },
          .make = [options, make](const RunContext& context) { return make(*options, context); }};
}

} // namespace kontor::miniapp
