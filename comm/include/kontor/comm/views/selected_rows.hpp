// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/views/buffer.hpp>

#include <cstdint>
#include <memory>
#include <vector>

namespace kontor::comm {

/// Rows, and what owns their indices.
struct SelectedRows {
  Buffer buffer;                                            ///< the rows
  std::shared_ptr<const std::vector<std::int64_t>> indices; ///< null where `buffer` needs none
};

} // namespace kontor::comm
