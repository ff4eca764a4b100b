// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "run/factory.hpp"

#include <functional>
#include <memory>
#include <utility>

namespace kontor::miniapp {

/// main() of a mini-app: starts MPI and Kokkos, reads the command line, makes the run (run.hpp) and ends
/// both. Returns the exit code (guard.hpp), on every rank. `make` is called where its errors are told.
int run_main(int argc, char** argv, const std::function<std::unique_ptr<MiniAppFactory>()>& make);

/// The same for an app with an Options struct; see Factory.
///
///     return miniapp::run_main<ring::Options>(argc, argv, "ring", "Passes values around",
///                                             [](const auto& options, const auto& context) {
///                                               return std::make_unique<ring::Ring>(options, context);
///                                             });
template <class Options, class Make>
int run_main(int argc, char** argv, const char* name, const char* summary, Make make) {
  const auto make_factory = [&]() -> std::unique_ptr<MiniAppFactory> {
    return std::make_unique<Factory<Options, Make>>(name, summary, std::move(make));
  };
  return run_main(argc, argv, std::function<std::unique_ptr<MiniAppFactory>()>(std::ref(make_factory)));
}

} // namespace kontor::miniapp
