// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "pingpong/bench.hpp"

#include <deque>
#include <map>

/// The combinations of backend, pattern, packing and path that a measure compares.
namespace kontor::pingpong {

/// What is not available, and why.
using Refusals = std::map<std::string, std::string>;

/// Every combination was refused.
[[noreturn]] void refuse_all(const Options&, const Refusals&);

/// A combination that this build has.
struct TimedMethod {
  std::string name; ///< "view persistent kernel"; in device memory also the path, where asked for also the messages
  comm::Communicator comm;
  bool moves_data;
};

/// Collective over the bench's communicator. What the deck lists, or else all there are and, where it lists nothing at
/// all, the layer's own choice. Those that the build does not have go to `refusals`.
std::vector<TimedMethod> candidates(const Bench&, Refusals& refusals);

/// Collective. A way of each candidate, in their order: as_way(candidate, what) of what make(comm) gives, which stays
/// in `made`. Those for which it cannot be made go to `refusals`; throws config::Error if there are none.
template <class Made, class Make, class AsWay>
std::vector<Way> ways_of(const Bench& bench, const std::vector<TimedMethod>& candidates, Refusals& refusals,
                         std::deque<Made>& made, const Make& make, const AsWay& as_way) {
  std::vector<Way> ways;
  for (const auto& candidate : candidates) {
    try {
      made.push_back(make(candidate.comm));
    } catch (const comm::UsageError& error) {
      refusals.emplace(candidate.name, error.what());
      continue;
    }
    ways.push_back(as_way(candidate, made.back()));
  }
  if (ways.empty()) refuse_all(bench.options, refusals);
  return ways;
}

/// Into the record and the notes.
void tell(const Refusals&, Findings&);

} // namespace kontor::pingpong
