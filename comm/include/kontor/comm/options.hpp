// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>

namespace kontor::comm {

/// How the parts of a View that do not lie in one piece travel.
enum class Packing {
  automatic, ///< `none` where a View is contiguous in the wire's order, else `kernel`
  kernel,    ///< one fused kernel copies all of them into a contiguous buffer, and back at the other end
  datatype,  ///< the backend takes them as they lie (MPI derived datatypes)
  none       ///< refused: only contiguous Views may travel
};

/// When the messages of an exchange are posted and completed.
enum class Pattern {
  nonblocking ///< all receives, then all sends, then one wait for all of them
};

struct Options {
  std::string backend = "raw";
  Pattern pattern = Pattern::nonblocking;
  Packing packing = Packing::automatic;
};

} // namespace kontor::comm
