// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/communicator.hpp>

/// The LogP parameters (Culler et al. 1993) of short messages between two ranks.
namespace kontor::pingpong {

struct LogP {
  double latency = 0;          ///< L: s, what of the one-way time no processor is busy with; not below 0
  double send_overhead = 0;    ///< o of the sender: s in a non-blocking send
  double receive_overhead = 0; ///< o of the receiver: s in a receive whose message has come before
  double gap = 0;              ///< g: s between messages of a long stream
};

/// Collective. Between ranks 0 and 1, one double, hand-written MPI. `one_way` is the time of such a message
/// in s. Valid on every rank.
LogP measure_logp(const comm::Communicator&, double one_way, int repetitions);

} // namespace kontor::pingpong
