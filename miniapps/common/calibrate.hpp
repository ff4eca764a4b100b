// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "common/result.hpp"

#include <kontor/comm/communicator.hpp>

namespace kontor::miniapp {

/// Collective; takes a few tenths of a second. All ranks stream at once, as they do in a run.
/// The triad is a += b + s c, which reads three words and writes one that it has read, so the 4 words
/// counted are the 4 that move (Parallel Research Kernels, nstream). Ping-pong is between ranks 0 and 1 by
/// backend `raw`, whatever the deck's, so that it is the same for all runs on a machine.
Calibration calibrate(const comm::Communicator&);

/// Collective. `so_far` with the same triad, and on devices the copy, over as many bytes as this rank's
/// working set has, in as many passes as it takes to be timed: what stays in a cache is set beside what the
/// cache gives. Only where some rank has a working set and all of them are smaller than what calibrate() goes
/// through.
Calibration with_working_set(const comm::Communicator&, double bytes, Calibration so_far);

} // namespace kontor::miniapp
