// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "heat/heat.hpp"

#include <kontor/config/deck.hpp>

#include <mpi.h>

#include <memory>
#include <string>
#include <utility>

/// A heat problem set up from the text of a deck, without the rest of a run.
namespace kontor::heat::test {

inline int world_size() {
  int ranks = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  return ranks;
}

inline Options read_options(const std::string& deck_text, int ranks = world_size()) {
  Options options;
  const auto deck = config::Deck::parse(deck_text, "test.yaml");
  deck.read([&](config::Visitor& v) { options.describe(v); });
  options.resolve(deck, ranks);
  return options;
}

template <class T>
struct Problem {
  Problem(const Options& options, MPI_Comm mpi_comm, const comm::Options& how = {}, bool overlap = true)
      : comm(mpi_comm, how),
        heat(std::make_unique<Heat<T>>(options, miniapp::RunContext{comm, overlap, timers, progress})) {}

  /// On all ranks.
  explicit Problem(const std::string& deck_text, const comm::Options& how = {}, bool overlap = true)
      : Problem(read_options(deck_text), MPI_COMM_WORLD, how, overlap) {}

  /// As in a run.
  void run() const {
    heat->warm_up();
    heat->reset();
    heat->run();
  }

  comm::Communicator comm;
  miniapp::Timers timers{"heat"};
  miniapp::Progress progress{miniapp::Progress::Style::silent};
  std::unique_ptr<Heat<T>> heat;
};

/// Runs the deck on all ranks and returns the verification.
template <class T = double>
miniapp::Verification verified(const std::string& deck_text) {
  const Problem<T> problem(deck_text);
  problem.heat->run();
  return problem.heat->verify();
}

} // namespace kontor::heat::test
