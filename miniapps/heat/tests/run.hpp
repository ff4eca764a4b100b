// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "heat/heat.hpp"
#include "run/tests/loan.hpp"

#include <kontor/config/deck.hpp>
#include <kontor/mpi/world.hpp>

#include <mpi.h>

#include <memory>

/// A heat problem set up from the text of a deck, without the rest of a run.
namespace kontor::heat::test {

using mpi::world_rank;
using mpi::world_size;

inline Options read_options(const std::string& deck_text, int ranks = world_size()) {
  Options options;
  const auto deck = config::Deck::parse(deck_text, "test.yaml");
  deck.read([&](config::Visitor& v) { options.describe(v); });
  options.resolve(deck, ranks);
  return options;
}

/// A steady problem with a source and each kind of boundary, and those keys of the solver.
inline std::string steady_deck(const std::string& solver) {
  return R"deck(
app: heat
problem:
  cells: [37, 23]
  initial: "x*y"
  source: "exp(-x)"
  boundary: {x_min: {dirichlet: "y"}, x_max: {neumann: "sin(y)"}, y_min: periodic, y_max: periodic}
solver: {)deck" +
         solver + "}\n";
}

template <class T>
struct Problem : miniapp::test::Loan {
  explicit Problem(const Options& options, comm::Communicator ranks, bool overlap = true,
                   miniapp::CheckpointOptions wanted = {})
      : Loan("heat", std::move(ranks), std::move(wanted)), heat(std::make_unique<Heat<T>>(options, context(overlap))) {}

  Problem(const Options& options, MPI_Comm native, const comm::Options& how = {}, bool overlap = true,
          miniapp::CheckpointOptions wanted = {})
      : Problem(options, comm::Communicator(native, how), overlap, std::move(wanted)) {}

  /// On all ranks.
  explicit Problem(const std::string& deck_text, const comm::Options& how = {}, bool overlap = true)
      : Problem(read_options(deck_text), MPI_COMM_WORLD, how, overlap) {}

  /// As in a run.
  void run() const { Loan::run(*heat); }

  std::unique_ptr<Heat<T>> heat;
};

/// Runs the deck on all ranks and returns the verification.
template <class T = double>
miniapp::Verification verified(const std::string& deck_text) {
  const Problem<T> problem(deck_text);
  problem.heat->run();
  return problem.heat->verify();
}

inline const auto steady_2d = steady_deck("tolerance: 0, max_sweeps: 23, check_every: 1, norm: max");

inline constexpr const char* transient_3d = R"deck(
app: heat
problem:
  equation: transient
  cells: [29, 11, 13]
  initial: "cos(3*x)*y + z"
  boundary: {x_min: periodic, x_max: periodic, y_min: {dirichlet: "1 + t"}, y_max: {neumann: "z"},
    z_min: {dirichlet: "x"}, z_max: {dirichlet: 0}}
time: {end: 0.003}
)deck";

} // namespace kontor::heat::test
