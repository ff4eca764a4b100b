// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <muParser.h>

#include <optional>
#include <string>
#include <vector>

namespace kontor::config {

/// A parser that knows pi and the functions, and no other name.
mu::Parser make_parser();

/// Compiles the formula; the parser must have the variables `names`. Returns what is wrong, nullopt if nothing is.
std::optional<std::string> compile(mu::Parser& parser, const std::string& formula,
                                   const std::vector<std::string>& names);

/// What is wrong with a formula that may use these variables; nullopt if nothing is.
std::optional<std::string> mistake_in(const std::string& formula, const std::vector<std::string>& names);

} // namespace kontor::config
