// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/options.hpp>

namespace kontor::comm {

/// A method of exchanging Views that has been tried.
struct TimedMethod {
  Options options;    ///< with nothing left to `auto`
  double seconds = 0; ///< the median time of one exchange, on the slowest rank
};

} // namespace kontor::comm
