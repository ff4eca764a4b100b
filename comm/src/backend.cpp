// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <kontor/comm/backend.hpp>
#include <kontor/comm/error.hpp>

namespace kontor::comm {

void Backend::allreduce_on(Stream /*stream*/, const Buffer& /*result*/, ReduceOp /*op*/) {
  throw CallError("this backend has no reductions on a device's stream (Capabilities::device_sums)");
}

} // namespace kontor::comm
