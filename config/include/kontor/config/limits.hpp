// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>

/// What a deck may have at most, so that none takes long, much memory, or many pages to refuse. Real decks are far
/// smaller. docs/reference/decks.md lists them.
namespace kontor::config::limits {

inline constexpr std::size_t bytes = 1 << 20; ///< of the text
inline constexpr std::size_t nodes = 10'000;  ///< keys and values; an alias counts as all that it stands for
inline constexpr std::size_t depth = 32;      ///< sections and lists inside each other
inline constexpr std::size_t formula =
    4096;                                   ///< characters of a formula; the time to compile it grows with their square
inline constexpr std::size_t text = 4095;   ///< bytes of a text or a file's name, as POSIX has them
inline constexpr std::size_t mistakes = 20; ///< that are listed; of the others the number is told
inline constexpr std::size_t shown = 80;    ///< characters of a value or key that a message shows
inline constexpr std::size_t name_to_guess = 80; ///< characters of a name for which a similar one is sought

} // namespace kontor::config::limits
