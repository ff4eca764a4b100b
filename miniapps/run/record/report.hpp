// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "run/record/record.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace kontor::miniapp {

/// Local, for rank 0: the table for people, with what the app found out in it and which files were written.
void print_table(const RunRecord&, const std::string& findings, const std::vector<std::filesystem::path>& written);

/// Local, for rank 0: `FOM <name> = <value> <unit>` lines and the verdict, for scripts.
void print_verdict(const Outcome&);

} // namespace kontor::miniapp
