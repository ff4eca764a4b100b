// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "cg/cg.hpp"
#include "run/tests/loan.hpp"
#include "run/tests/refusal.hpp"

#include <kontor/comm/communicator.hpp>
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

/// cg with what a run lends to it.
struct App : miniapp::test::Loan {
  /// Collective over the ranks of `comm`.
  explicit App(const Options& options, const comm::Communicator& comm, bool overlap = true)
      : Loan("cg", comm.share()), cg(options, context(overlap)) {}

  /// Collective. A repeat from the beginning.
  void run() {
    cg.reset();
    cg.run();
  }
  /// Collective. The same, and its verdict.
  miniapp::Verification verified() {
    run();
    return cg.verify();
  }

  Cg cg;
};

/// A problem whose sums are reproducible; of a box.
inline Options reproducible(ProblemKind kind, Method method, PreconditionerKind preconditioner) {
  Options options;
  options.kind = kind;
  options.stencil.points = {11, 9, 13};
  options.stencil.exact = "sin(3*x)+y*z";
  options.fe_heat.elements = {7, 8, 6};
  options.fe_heat.conductivity = "1+x*y";
  options.fe_heat.source = "exp(x)";
  options.fe_heat.faces[0].condition = FaceCondition::temperature;
  options.solver = {.method = method,
                    .replace_every = 7,
                    .preconditioner = preconditioner,
                    .tolerance = 1e-9,
                    .sums = SumKind::reproducible};
  return options;
}

} // namespace kontor::cg::test
