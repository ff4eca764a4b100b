// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "machine/calibration.hpp"

#include <kontor/comm/communicator.hpp>

namespace kontor::miniapp {

/// Collective; takes a few tenths of a second; valid on every rank. What is measured for every app: how fast all ranks
/// stream at once (stream.hpp), in huge pages if the app's own data are, and a message between two ranks of a node and
/// of two nodes (link.hpp).
Calibration calibrate(const comm::Communicator&, bool huge_pages);

/// Collective; valid on every rank. `so_far` with what the app asks for. All ranks ask for the same, but each for a
/// working set of its own: vectors of as many bytes are then read, copied and go through the triad, so that what stays
/// in a cache is compared with what the cache gives. Only where some rank has a working set and all of them are smaller
/// than what calibrate() streams through. Messages of an app are timed where they are larger than those of calibrate().
Calibration calibrate_for(const comm::Communicator&, const CalibrationRequest&, Calibration so_far);

} // namespace kontor::miniapp
