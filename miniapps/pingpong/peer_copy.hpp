// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/communicator.hpp>

namespace kontor::pingpong {

/// Collective; valid on every rank. Bytes/s one way that the first process copies from its GPU 0 to its GPU 1
/// by the maker's own call, which no transport between processes can be expected to beat; 0 where it does not
/// see two GPUs.
double peer_copy_bandwidth(const comm::Communicator&);

} // namespace kontor::pingpong
