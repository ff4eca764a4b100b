// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/options.hpp>
#include <kontor/comm/views/buffer.hpp>

#include <optional>
#include <string>

namespace kontor::comm {

/// Local. What is wrong with the rows that have been chosen: beyond the View's, or, of those that are
/// received, twice in the list. Only lists cost time, and are not looked at on level `off`.
std::optional<std::string> rows_problem(const Buffer&, bool receives, CheckLevel);

/// The array whose rows have been chosen; where none have, the same.
Buffer whole_array(Buffer);

} // namespace kontor::comm
