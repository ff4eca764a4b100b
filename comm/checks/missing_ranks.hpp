// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/communicator.hpp>

#include <cstdint>
#include <string>

namespace kontor::comm::detail {

/// Local. Whether another rank has come to a call and given up waiting for the others.
bool another_rank_timed_out(const Communicator&);

/// Where this rank gives up on the call of that number, or another one has. Tells the other ranks that this
/// one has come, listens for a while who else has, and says in words who came and who did not.
std::string who_is_missing(const Communicator&, std::int64_t number);

} // namespace kontor::comm::detail
