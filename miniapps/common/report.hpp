// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "common/record.hpp"

namespace kontor::miniapp {

/// Local, for rank 0: the table for people.
void print_table(const nlohmann::ordered_json& record, const Outcome&);

/// Local, for rank 0: `FOM <name> = <value> <unit>` lines and the verdict, for scripts.
void print_verdict(const Outcome&);

} // namespace kontor::miniapp
