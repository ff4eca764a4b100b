// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/backend/backend.hpp>
#include <kontor/comm/backend/method.hpp>
#include <kontor/comm/error.hpp>

#include <optional>

/// Why a method is not possible, in words that say what to choose instead.
namespace kontor::comm {

/// All patterns, the usual ones first.
inline constexpr std::array usual_first{Pattern::nonblocking, Pattern::persistent, Pattern::neighborhood,
                                        Pattern::alltoall,    Pattern::blocking,   Pattern::rma,
                                        Pattern::two_hop};

/// Local. Why a backend cannot do both, if it cannot.
std::optional<UsageError> refusal(std::string_view backend, const Capabilities&, Pattern, Packing);

/// Local. Why Views in this memory cannot use the method, if they cannot.
std::optional<UsageError> refusal(const Method&, MemoryKind);

} // namespace kontor::comm
