// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "run/mini_app.hpp"
#include "run/options.hpp"

#include <kontor/config/deck.hpp>
#include <kontor/config/visitor.hpp>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kontor::miniapp {

/// A mini-app's options and how to make it from them.
class MiniAppFactory {
 public:
  virtual ~MiniAppFactory() = default;
  virtual std::string_view name() const = 0;
  virtual std::string_view summary() const = 0;
  /// The app's own keys of the deck; those of every app (comm, measure, output) are not among them. Local.
  virtual void describe(config::Visitor&) = 0;
  /// What concerns several keys at once: resolves defaults that depend on others, and refuses what cannot
  /// run by deck.fail(). Called after reading, with the same arguments on all ranks. Local.
  virtual void resolve(const config::Deck&, int ranks, const RunOptions&) = 0;
  /// What may be refused and takes work to find out, such as a file that the deck names: called before
  /// anything is measured, as a part of the set-up. Collective; throws as the constructor of the app does.
  virtual void prepare(const RunContext&) {}
  /// Keys of the app's own that may be others when a run goes on from a checkpoint: "solver.tolerance", or a
  /// section, "decomposition.". None: the app writes no checkpoints. Local.
  virtual std::optional<std::vector<std::string>> restart_may_change() const { return {}; }
  /// Whether what the app streams through asks the system for huge pages (machine/huge_pages.hpp). Local.
  virtual bool huge_pages() const { return false; }
  virtual std::unique_ptr<MiniApp> make(const RunContext&) = 0;
};

/// The factory of an app whose options are a struct with describe(config::Visitor&); if several keys must be
/// looked at together, resolve(const config::Deck&, int ranks), or with the keys that every deck has
/// resolve(const config::Deck&, int ranks, const RunOptions&); if more is to be done before the calibration,
/// prepare(const RunContext&), which keeps what it has found in the options; if the app writes checkpoints,
/// restart_may_change() const, which returns a std::vector<std::string>; if its data lie in huge pages, a
/// constant huge_pages = true. `Make` is called as make(options, context) and returns a std::unique_ptr to
/// the app.
template <class Options, class Make>
class Factory final : public MiniAppFactory {
 public:
  Factory(std::string name, std::string summary, Make make)
      : name_(std::move(name)), summary_(std::move(summary)), make_(std::move(make)) {}

  std::string_view name() const override { return name_; }
  std::string_view summary() const override { return summary_; }
  void describe(config::Visitor& visitor) override { options_.describe(visitor); }
  void resolve(const config::Deck& deck, int ranks, const RunOptions& run) override {
    if constexpr (requires { options_.resolve(deck, ranks, run); })
      options_.resolve(deck, ranks, run);
    else if constexpr (requires { options_.resolve(deck, ranks); })
      options_.resolve(deck, ranks);
  }
  void prepare(const RunContext& context) override {
    if constexpr (requires { options_.prepare(context); }) options_.prepare(context);
  }
  std::optional<std::vector<std::string>> restart_may_change() const override {
    if constexpr (requires { options_.restart_may_change(); }) return options_.restart_may_change();
    return {};
  }
  bool huge_pages() const override {
    if constexpr (requires { Options::huge_pages; }) return Options::huge_pages;
    return false;
  }
  std::unique_ptr<MiniApp> make(const RunContext& context) override { return make_(options_, context); }

 private:
  std::string name_;
  std::string summary_;
  Make make_;
  Options options_;
};

} // namespace kontor::miniapp
