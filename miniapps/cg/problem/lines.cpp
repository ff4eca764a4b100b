// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cg/problem/lines.hpp"

#include "partition/coordinate_matrix.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace kontor::cg {
namespace {

constexpr std::size_t longest_line = std::size_t{1} << 20;

bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

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
    : in_(in), name_(std::move(name)), buffer_(longest_line + 1), left_(size_of(in)) {}

bool Lines::next(std::string_view& line) {
  in_.getline(buffer_.data(), static_cast<std::streamsize>(buffer_.size()));
  if (in_.bad()) partition::fail_at(name_, number_ + 1, "the file cannot be read from here on", "E-FILE-READ");
  const auto taken = static_cast<std::size_t>(in_.gcount()); // the LF, too
  if (taken == 0) return false;
  ++number_;
  if (in_.fail()) fail(fmt::format("the line has more than {} characters", longest_line));
  line = {buffer_.data(), in_.eof() ? taken : taken - 1};
  if (!in_.eof()) buffer_[line.size()] = '\n'; // where getline() has left a NUL
  crc32_.add(buffer_.data(), taken);
  if (left_ >= 0) left_ = std::max<std::int64_t>(left_ - in_.gcount(), 0);
  return true;
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

void Lines::fail(const std::string& message, errors::Id id) const { partition::fail_at(name_, number_, message, id); }

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
