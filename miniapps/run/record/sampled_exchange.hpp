// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "run/record/timers.hpp"

namespace kontor::miniapp {

/// Where the durations and the intervals of an app's main exchange go.
struct ExchangeSamples {
  explicit ExchangeSamples(Timers& timers)
      : durations(timers.durations("exchange")), post(timers.communication("post")),
        wait(timers.communication("wait")) {}
  Distribution& durations;
  Timer &post, &wait;
};

/// Local. work(), which in a trace is an interval of the region.
template <class Work>
void traced(const Timer& region, const Work& work) {
  if (!region.trace) return work();
  const double begin = device::seconds();
  work();
  region.add_to_trace(begin, device::seconds());
}

/// An exchange of which a sample is taken: the host seconds in start() and finish() together, which are packing,
/// posting, waiting and unpacking, without what is computed between the two. In a trace start() is the region "post"
/// and finish() the region "wait". An exchange without messages is no sample. `Exchange` measures its times.
template <class Exchange>
class SampledExchange {
 public:
  /// Local. For one exchange.
  SampledExchange(Exchange& exchange, const ExchangeSamples& to)
      : exchange_(exchange), to_(to), before_(exchange.times().total()) {}

  void start() {
    traced(to_.post, [&] { exchange_.start(); });
  }
  void finish() {
    traced(to_.wait, [&] { exchange_.finish(); });
    if (!exchange_.slots().empty()) to_.durations.add(exchange_.times().total() - before_);
  }
  bool stream_ordered() const { return exchange_.stream_ordered(); }

 private:
  Exchange& exchange_;
  const ExchangeSamples& to_;
  double before_;
};

} // namespace kontor::miniapp
