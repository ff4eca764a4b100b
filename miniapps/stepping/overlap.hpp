// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "stepping/streams.hpp"

namespace kontor::stepping {

/// In place of an exchange: nothing moves.
struct NoExchange {
  void start() {}
  void finish() {}
  bool stream_ordered() const { return true; }
};

/// Collective. Exchanges the halo of one step and makes the step's kernels: all(instance) after it, or, with overlap,
/// interior(instance) while it travels, then edge(instance). The edge is every cell that reads a ghost and every cell
/// that the next exchange sends: that exchange waits for the edge, not for the interior. The kernels are ordered among
/// each other and with those of other steps; no host waits, unless the exchange does. On a device an exchange that the
/// host takes part in comes after the interior: the host queues that first.
template <class ExecutionSpace, class Exchange, class Interior, class Edge, class All>
void exchange_and_compute(Streams<ExecutionSpace>& streams, Exchange& halo, bool overlap, const Interior& interior,
                          const Edge& edge, const All& all) {
  if (!overlap) {
    halo.start();
    halo.finish();
    return all(streams.compute());
  }
  streams.mark_compute();
  const bool exchange_first = !on_device || halo.stream_ordered();
  if (exchange_first) halo.start();
  interior(streams.compute());
  if (!exchange_first) halo.start();
  halo.finish();
  streams.exchange_waits();
  edge(streams.exchange());
  streams.compute_waits();
}

} // namespace kontor::stepping
