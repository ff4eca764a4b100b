// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "partition/coordinate_matrix.hpp"

#include <kontor/errors/id.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <istream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kontor::partition {

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

inline bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

/// Whether a line is neither blank nor a comment.
inline bool content(std::string_view line) {
  const auto first = std::find_if_not(line.begin(), line.end(), is_blank);
  return first != line.end() && *first != '%';
}

/// The next word of a line, which is taken off it; empty if there is none. Words are separated by blanks.
inline std::string_view take_word(std::string_view& line) {
  std::size_t begin = 0;
  while (begin < line.size() && is_blank(line[begin])) ++begin;
  std::size_t end = begin;
  while (end < line.size() && !is_blank(line[end])) ++end;
  const auto word = line.substr(begin, end - begin);
  line.remove_prefix(end);
  return word;
}

/// The lines of a text file, one at a time.
class Lines {
 public:
  /// `name` is the file's, for messages.
  Lines(std::istream& in, std::string name)
      : in_(in), name_(std::move(name)), buffer_(longest + 1), left_(size_of(in)) {}

  /// The next line without its LF, before which a CR is a blank; false after the last. Valid until the next call.
  /// Throws config::Error if the file cannot be read, or a line has more than 1048576 characters.
  bool next(std::string_view& line) {
    in_.getline(buffer_.data(), static_cast<std::streamsize>(buffer_.size()));
    if (in_.bad()) partition::fail_at(name_, number_ + 1, "the file cannot be read from here on", "E-FILE-READ");
    const auto taken = static_cast<std::size_t>(in_.gcount()); // the LF, too
    if (taken == 0) return false;
    ++number_;
    if (in_.fail()) fail(fmt::format("the line has more than {} characters", longest));
    line = {buffer_.data(), in_.eof() ? taken : taken - 1};
    if (!in_.eof()) buffer_[line.size()] = '\n'; // where getline() has left a NUL
    crc32_.add(buffer_.data(), taken);
    if (left_ >= 0) left_ = std::max<std::int64_t>(left_ - in_.gcount(), 0);
    return true;
  }

  /// The same, of those that are neither blank nor a comment: "%" first.
  bool next_with_content(std::string_view& line) {
    while (next(line))
      if (content(line)) return true;
    return false;
  }

  /// Of the line that came last, from 1; 0 before the first.
  std::int64_t number() const { return number_; }
  /// Characters of the file that have not come yet; -1 if that cannot be known (a pipe).
  std::int64_t left() const { return left_; }
  const std::string& name() const { return name_; }
  /// CRC-32 of what has been read, of the whole file after the last line.
  std::uint32_t crc32() const { return crc32_.value(); }

  /// Throws config::Error with file and line of the line that came last.
  [[noreturn]] void fail(const std::string& message, errors::Id id = "E-FILE-FORMAT") const {
    partition::fail_at(name_, number_, message, id);
  }

 private:
  static constexpr std::size_t longest = std::size_t{1} << 20; ///< line
  /// Characters from here to the end; -1 if the file cannot be positioned.
  static std::int64_t size_of(std::istream& in) {
    const auto here = in.tellg();
    if (here < 0) {
      in.clear();
      return -1;
    }
    in.seekg(0, std::ios::end);
    const auto end = in.tellg();
    in.clear();
    in.seekg(here);
    return end < here ? -1 : static_cast<std::int64_t>(end - here);
  }

  std::istream& in_;
  std::string name_;
  std::vector<char> buffer_;
  std::int64_t left_;
  std::int64_t number_ = 0;
  Crc32 crc32_;
};

} // namespace kontor::partition
