// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <string_view>

/// Texts of a user as messages show them.
namespace kontor::config {

/// Control characters and bytes that are not UTF-8 as `\xNN`, so that they neither reach a terminal nor forge lines;
/// the rest, and the control character `kept`, as it is.
std::string printable(std::string_view text, char kept = 'x');

/// The same of at most limits::shown characters; what is longer ends with "..." and its length in bytes.
std::string shown(std::string_view text);

/// shown() between quotation marks: "x", or "xxx"... (5000 bytes).
std::string in_quotes(std::string_view text);

} // namespace kontor::config
