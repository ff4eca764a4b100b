// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/errors/id.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <istream>
#include <string>
#include <string_view>
#include <vector>

namespace kontor::cg {

/// CRC-32 as gzip and zlib have it (ISO 3309), of bytes that come one buffer after the other.
class Crc32 {
 public:
  void add(const char* data, std::size_t bytes) {
    for (std::size_t i = 0; i < bytes; ++i)
      rest_ = table[(rest_ ^ static_cast<unsigned char>(data[i])) & 0xff] ^ rest_ >> 8;
  }
  std::uint32_t value() const { return ~rest_; }

 private:
  static constexpr auto table = [] {
    std::array<std::uint32_t, 256> of_bytes{};
    for (std::uint32_t byte = 0; byte < of_bytes.size(); ++byte) {
      auto rest = byte;
      for (int bit = 0; bit < 8; ++bit) rest = (rest & 1) != 0 ? 0xedb88320 ^ rest >> 1 : rest >> 1;
      of_bytes[byte] = rest;
    }
    return of_bytes;
  }();
  std::uint32_t rest_ = ~std::uint32_t{0};
};

/// The lines of a text file, one at a time.
class Lines {
 public:
  /// `name` is the file's, for messages.
  Lines(std::istream&, std::string name);

  /// The next line without its LF, before which a CR is a blank; false after the last. Valid until the next call.
  /// Throws config::Error if the file cannot be read, or a line has more than 1048576 characters.
  bool next(std::string_view& line);

  /// The same, of those that are neither blank nor a comment: "%" first.
  bool next_with_content(std::string_view& line);

  /// Of the line that came last, from 1; 0 before the first.
  std::int64_t number() const { return number_; }
  /// Characters of the file that have not come yet; -1 if that cannot be known (a pipe).
  std::int64_t left() const { return left_; }
  const std::string& name() const { return name_; }
  /// CRC-32 of what has been read, of the whole file after the last line.
  std::uint32_t crc32() const { return crc32_.value(); }

  /// Throws config::Error with file and line of the line that came last.
  [[noreturn]] void fail(const std::string& message, errors::Id id = "E-FILE-FORMAT") const;

 private:
  std::istream& in_;
  std::string name_;
  std::vector<char> buffer_;
  std::int64_t left_;
  std::int64_t number_ = 0;
  Crc32 crc32_;
};

/// Whether a line is neither blank nor a comment.
bool content(std::string_view line);

/// The next word of a line, which is taken off it; empty if there is none. Words are separated by blanks.
std::string_view take_word(std::string_view& line);

} // namespace kontor::cg
