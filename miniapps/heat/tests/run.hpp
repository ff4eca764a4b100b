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

inline Options read_options(const std::string& deck_text, int ranks) {
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

  comm::Communicator comm;
  miniapp::Timers timers{"heat"};
  miniapp::Progress progress{miniapp::Progress::Style::silent};
  std::unique_ptr<Heat<T>> heat;
};

/// Runs the deck on the communicator and returns the verification.
template <class T = double>
miniapp::Verification verified(const std::string& deck_text, MPI_Comm mpi_comm = MPI_COMM_WORLD) {
  int ranks = 1;
  MPI_Comm_size(mpi_comm, &ranks);
  Problem<T> problem(read_options(deck_text, ranks), mpi_comm);
  problem.heat->run();
  return problem.heat->verify();
}

} // namespace kontor::heat::test
