// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/options.hpp>

namespace kontor::comm::detail {

class PinnedPool;

/// How the calls of a communicator hand Views to MPI.
struct Lowering {
  Packing packing = Packing::automatic; ///< `none` rejects Views that do not lie in one piece
  bool direct = false;                  ///< MPI takes device memory
  PinnedPool* pool = nullptr;           ///< where Views in device memory travel through elsewhere
};

} // namespace kontor::comm::detail
