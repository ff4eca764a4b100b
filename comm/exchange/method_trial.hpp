// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "exchange/exchange_method.hpp"

#include <kontor/comm/exchange/trial.hpp>

#include <memory>
#include <span>
#include <string>
#include <vector>

/// How an exchange chooses among the methods that it can use.
namespace kontor::comm {

/// Collective. An exchange method for each method that Views in this memory can use; one of several that turns out to
/// be impossible is left out. Throws UsageError on every rank if that leaves none.
std::vector<std::unique_ptr<ExchangeMethod>> make_methods(const Communicator&, const std::string& label,
                                                          std::span<const Slot>, const Agreement&, MemoryKind,
                                                          const std::shared_ptr<const Executor>&, const Owners& views);

/// Collective. Leaves one of several methods that send the same messages: `datatype` where no View needs packing on any
/// rank, and `per_slot` where no rank sends several Views in a message.
void keep_different(const Communicator&, std::vector<std::unique_ptr<ExchangeMethod>>&);

/// Collective. The methods' times; not measured, and 0, where there is no choice. Views that receive are saved before
/// and written back afterwards.
std::vector<double> time_methods(const Communicator&, std::vector<std::unique_ptr<ExchangeMethod>>&,
                                 std::span<const Slot>, const Executor&);

} // namespace kontor::comm
