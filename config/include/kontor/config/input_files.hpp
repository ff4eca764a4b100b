// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/config/input_file.hpp>
#include <kontor/config/visitor.hpp>

#include <functional>
#include <vector>

namespace kontor::config {

/// Local. The files that options name, each with its key: those that are not empty, in describe()'s order.
std::vector<InputFile> input_files(const std::function<void(Visitor&)>& describe);

} // namespace kontor::config
