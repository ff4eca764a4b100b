// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/communicator.hpp>

#include <cstdint>
#include <string>

namespace kontor::comm::detail {

/// Local. Waits for a non-blocking operation in which all ranks take part; false if it is not complete within Options::patience, or if another rank has given up on it.
bool all_came(const Communicator&, MPI_Request&);

/// After all_came() was false. Tells the other ranks that this one has come, listens for a while who else has,
/// and says who came and who did not.
std::string who_is_missing(const Communicator&, std::int64_t number);

} // namespace kontor::comm::detail
