// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "pingpong/bench.hpp"

#include <map>
#include <string>
#include <vector>

/// The combinations of backend, pattern, packing and path that a measure compares.
namespace kontor::pingpong {

/// What is not available, and why.
using Refusals = std::map<std::string, std::string>;

/// A combination that this build has.
struct TimedMethod {
  std::string
      name; ///< "view persistent kernel"; in device memory also the path, where asked for also the messages
  comm::Communicator comm;
  bool moves_data;
};

/// Collective over the bench's communicator. What the deck lists, or else all there are and, where it lists
/// nothing at all, the layer's own choice. Those that the build does not have go to `refusals`.
std::vector<TimedMethod> candidates(const Bench&, Refusals& refusals);

/// Every combination was refused.
[[noreturn]] void refuse_all(const Options&, const Refusals&);

/// Collective if the combination is: adds the way that make() gives, or the reason why there is none.
template <class Make>
void try_combination(const TimedMethod& candidate, Refusals& refusals, const Make& make) {
  try {
    make();
  } catch (const comm::UsageError& error) {
    refusals.emplace(candidate.name, error.what());
  }
}

/// Into the record and the notes.
void tell(const Refusals&, Findings&);

} // namespace kontor::pingpong
