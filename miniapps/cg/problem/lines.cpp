// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cg/problem/lines.hpp"

#include "cg/names.hpp"
#include "partition/coordinate_matrix.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace kontor::cg {
namespace {

constexpr std::size_t longest_line = std::size_t{1} << 20;

bool is_blank(char c) {
  return c == ' ' || (c >= '\t' && c <= '\r');
}

/// Characters from here to the end; -1 if the file cannot be positioned.
std::int64_t size_of(std::istream& in) {
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

} // namespace

Lines::Lines(std::istream& in, std::string name)
    : in_(in), name_(std::move(name)), buffer_(longest_line + 2), begin_(buffer_.data()), end_(begin_),
      unread_(size_of(in)) {}

/// Reads behind what has not come yet; false if the file is at its end.
bool Lines::refill() {
  const auto kept = static_cast<std::size_t>(end_ - begin_);
  std::memmove(buffer_.data(), begin_, kept);
  begin_ = buffer_.data();
  end_ = begin_ + kept;
  if (in_.eof()) return false;
  in_.read(buffer_.data() + kept, static_cast<std::streamsize>(buffer_.size() - kept));
  if (in_.bad()) fail_at(name_, number_ + 1, "the file cannot be read from here on");
  const auto got = in_.gcount();
  crc32_.add(end_, static_cast<std::size_t>(got));
  end_ += got;
  if (unread_ >= got) unread_ -= got;
  return got > 0;
}

bool Lines::next(std::string_view& line) {
  std::size_t looked_at = 0;
  while (true) {
    const auto size = static_cast<std::size_t>(end_ - begin_);
    const auto* found = static_cast<const char*>(std::memchr(begin_ + looked_at, '\n', size - looked_at));
    if (!found) {
      looked_at = size;
      if (size < buffer_.size() && refill()) continue;
      if (size == 0) return false;
    }
    ++number_;
    line = {begin_, found ? static_cast<std::size_t>(found - begin_) : size};
    begin_ = found ? found + 1 : end_;
    if (line.size() > longest_line) fail(fmt::format("the line has more than {} characters", longest_line));
    return true;
  }
}

bool Lines::next_with_content(std::string_view& line) {
  while (next(line))
    if (content(line)) return true;
  return false;
}

bool content(std::string_view line) {
  const auto first = std::find_if_not(line.begin(), line.end(), is_blank);
  return first != line.end() && *first != '%';
}

std::int64_t Lines::left() const {
  return unread_ < 0 ? -1 : unread_ + (end_ - begin_);
}

void Lines::fail(const std::string& message) const {
  fail_at(name_, number_, message);
}

std::string_view take_word(std::string_view& line) {
  std::size_t begin = 0;
  while (begin < line.size() && is_blank(line[begin])) ++begin;
  std::size_t end = begin;
  while (end < line.size() && !is_blank(line[end])) ++end;
  const auto word = line.substr(begin, end - begin);
  line.remove_prefix(end);
  return word;
}

} // namespace kontor::cg
