// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/communicator.hpp>

namespace kontor::miniapp {

/// Collective; valid on every rank. Whether on some node the ranks compute with more threads than there are
/// cores, hardware threads counted, that they may run on together. Then they take turns: what all do at once
/// is not what the machine can do. False where kernels run on a device.
bool cores_are_oversubscribed(const comm::Communicator&);

} // namespace kontor::miniapp
