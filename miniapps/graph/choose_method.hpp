// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "graph/options.hpp"
#include "stepping/trial.hpp"

#include <kontor/device/clock.hpp>

#include <nlohmann/json.hpp>

#include <optional>

namespace kontor::graph {

/// How traffic of a run travels, and what was tried.
struct ChosenMethod {
  Method method = Method::counted;
  stepping::Trial trial{};

  /// Local. Members of the record.
  nlohmann::ordered_json record() const {
    nlohmann::ordered_json record{{"traffic_method", name_of(method)}};
    if (!trial.candidates.empty()) record["traffic_trial"] = trial.record();
    return record;
  }
};

/// Collective. The deck's method, or the fastest by trial. work(method) does the work once; a repeat does it so many
/// times.
template <class Work>
ChosenMethod choose_method(const comm::Communicator& comm, const Options& o, double times, const Work& work) {
  if (o.method != Method::automatic || comm.size() == 1)
    return {o.method == Method::automatic ? Method::counted : o.method.value};
  ChosenMethod chosen;
  for (int m = 0; m < static_cast<int>(Method::automatic); ++m) {
    auto& candidate = chosen.trial.candidates.emplace_back();
    candidate.name = name_of(static_cast<Method>(m));
    if (static_cast<Method>(m) == Method::neighborhood && o.algorithm == Algorithm::sort)
      candidate.refusal = "in a sort all ranks are neighbours";
  }
  chosen.trial.choose(comm, times, [&](std::size_t c, int n) {
    const double begin = device::seconds();
    for (int i = 0; i < n; ++i) work(static_cast<Method>(c));
    return device::seconds() - begin;
  });
  chosen.method = static_cast<Method>(chosen.trial.chosen);
  return chosen;
}

} // namespace kontor::graph
