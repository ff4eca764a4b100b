// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/exchange/trial.hpp>

#include <nlohmann/json.hpp>

#include <optional>
#include <string>
#include <vector>

namespace kontor::stepping {

/// A choice among candidates that do the same work.
struct Trial {
  struct Candidate {
    std::string name;
    std::optional<std::string> refusal = {}; ///< why it is impossible, equal on all ranks
    std::optional<double> seconds = {};      ///< of the work once: the median of the slowest rank; none: not tried
  };

  std::vector<Candidate> candidates; ///< the usual one first; at least one is possible
  std::size_t chosen = 0;

  /// Local. Whether anything was tried.
  bool tried() const { return candidates.at(chosen).seconds.has_value(); }
  /// Local. A table of the candidates for the record: name, seconds, refusal.
  nlohmann::ordered_json record() const;

  /// Collective. Chooses the fastest candidate; the usual one if it is within 3 % of it. turn(c, n) does the work of
  /// candidate c n times, waits for it, and returns the seconds of once. `times`: how often a repeat of the run does
  /// the work. A trial takes the seconds of comm.trial, or up to a fifth of a repeat where each candidate's two turns
  /// need that; what has no time left is not tried.
  template <class Turn>
  void choose(const comm::Communicator& comm, double times, const Turn& turn) {
    auto possible = this->possible();
    chosen = possible.front();
    if (possible.size() == 1) return;
    std::vector<double> seconds;
    double spent = 0, limit = 0;
    for (const auto c : possible) {
      if (!seconds.empty() && spent + 2 * seconds.front() > limit) break;
      turn(c, 1); // caches, and what a device makes ready for a first launch
      seconds.push_back(comm::max_over_ranks(comm, turn(c, 1)));
      spent += 2 * seconds.back();
      limit = limit_of(comm, times * seconds.front());
    }
    possible.resize(seconds.size());
    if (const double left = comm.options().trial - spent; left > 3 * spent / 2) {
      const auto [rounds, count] = comm::trial_length(spent / 2, left);
      std::vector<double> all(static_cast<std::size_t>(rounds) * possible.size());
      for (std::size_t i = 0; i < all.size(); ++i) {
        comm::max_over_ranks(comm, 0); // a barrier
        all[i] = turn(possible[i % possible.size()], count);
      }
      comm::max_over_ranks(comm, all);
      seconds = comm::medians(all, possible.size());
    }
    for (std::size_t i = 0; i < possible.size(); ++i) candidates[possible[i]].seconds = seconds[i];
    decide();
  }

  /// Local. Chooses among the candidates that have seconds, equal on all ranks.
  void decide();
  /// Local. The seconds that a trial may take, of work that takes so many in a repeat.
  static double limit_of(const comm::Communicator&, double repeat);

 private:
  std::vector<std::size_t> possible() const;
};

} // namespace kontor::stepping
