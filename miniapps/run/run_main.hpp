// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "run/factory.hpp"

#include <string>
#include <utility>

namespace kontor::miniapp {

/// main() of a mini-app: starts MPI and Kokkos, reads the command line, makes the run (run.hpp) and ends
/// both. Returns the exit code (guard.hpp), on every rank.
int run_main(int argc, char** argv, MiniAppFactory&);

/// The same for an app with an Options struct; see Factory.
///
///     return miniapp::run_main<ring::Options>(argc, argv, "ring", "Passes values around",
///                                             [](const auto& options, const auto& context) {
///                                               return std::make_unique<ring::Ring>(options, context);
///                                             });
template <class Options, class Make>
int run_main(int argc, char** argv, std::string name, std::string summary, Make make) {
  Factory<Options, Make> factory(std::move(name), std::move(summary), std::move(make));
  return run_main(argc, argv, factory);
}

} // namespace kontor::miniapp
