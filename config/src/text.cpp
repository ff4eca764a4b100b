// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <kontor/config/limits.hpp>
#include <kontor/config/text.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace kontor::config {
namespace {

/// Bytes of the printable UTF-8 character that `text` begins with; 0 if it does not begin with one.
std::size_t character(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned first = byte(0);
  if (first < 0x80) return first < 0x20 || first == 0x7f ? 0 : 1;
  const std::size_t size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < size) return 0;
  unsigned code = first & (0xff >> (size + 1));
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
    code = code << 6 | (byte(i) & 0x3f);
  }
  constexpr unsigned least[] = {0, 0, 0xa0, 0x800, 0x10000}; // below 0xa0 are more control characters
  const bool surrogate = code >= 0xd800 && code < 0xe000;
  const bool separator = code == 0x2028 || code == 0x2029;
  const bool turns_text = (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
  if (code < least[size] || code > 0x10ffff || surrogate || separator || turns_text) return 0;
  return size;
}

/// At most `most` characters of the text, printable but for `kept`; `text` keeps what is left.
std::string take(std::string_view& text, std::size_t most, char kept = 'x') {
  std::string result;
  for (std::size_t count = 0; !text.empty() && count < most; ++count) {
    const auto size = text[0] == kept ? 1 : character(text);
    if (size > 0)
      result += text.substr(0, size);
    else
      result += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[0]));
    text.remove_prefix(std::max<std::size_t>(size, 1));
  }
  return result;
}

std::string cut(std::string_view text, std::string_view quote) {
  const auto bytes = text.size();
  const auto begin = take(text, limits::shown);
  return fmt::format("{}{}{}{}", quote, begin, quote, text.empty() ? "" : fmt::format("... ({} bytes)", bytes));
}

} // namespace

std::string printable(std::string_view text, char kept) {
  return take(text, std::numeric_limits<std::size_t>::max(), kept);
}

std::string shown(std::string_view text) { return cut(text, ""); }

std::string in_quotes(std::string_view text) { return cut(text, "\""); }

} // namespace kontor::config
