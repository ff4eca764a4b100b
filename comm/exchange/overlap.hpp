// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/exchange/handshake.hpp>

#include <optional>
#include <span>
#include <string>

namespace kontor::comm {

/// A View of these slots that receives what another one sends or receives in the same step, in words.
std::optional<std::string> overlap_problem(std::span<const Slot>);

} // namespace kontor::comm
