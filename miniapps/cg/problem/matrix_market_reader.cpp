// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cg/problem/matrix_market_reader.hpp"

#include "cg/problem/lines.hpp"

#include <kontor/config/text.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string_view>

namespace kontor::cg {
namespace {

using config::in_quotes;

constexpr std::int64_t largest_integer = std::int64_t{1} << 53; ///< up to which doubles have all of them

/// What the header says.
struct Header {
  bool integer = false;
  bool symmetric = false;
};

std::string lower(std::string_view word) {
  std::string result(word);
  for (auto& c : result)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return result;
}

Header read_header(Lines& lines, std::string_view wanted) {
  const auto expects = fmt::format("the file begins with the line \"%%MatrixMarket {}\"", wanted);
  std::string_view line;
  if (!lines.next(line)) fail_at(lines.name(), 0, "the file is empty; " + expects);
  if (line.starts_with("\x1f\x8b")) lines.fail("the file is compressed: decompress it by gunzip");
  auto rest = line;
  std::array<std::string, 5> words;
  for (auto& word : words) word = lower(take_word(rest));
  const auto& [banner, object, layout, field, symmetry] = words;
  if (banner != "%%matrixmarket" || object != "matrix" || symmetry.empty() || !take_word(rest).empty())
    lines.fail(fmt::format("{}, found {}", expects, in_quotes(line)));
  const auto allow = [&](const std::string& word, std::string_view what,
                         std::initializer_list<std::string_view> allowed) {
    if (std::find(allowed.begin(), allowed.end(), word) == allowed.end())
      lines.fail(fmt::format("the {} of the file is {}; allowed is {}{}{}", what, in_quotes(word),
                             *allowed.begin(), allowed.size() > 1 ? " or " : "",
                             allowed.size() > 1 ? *(allowed.end() - 1) : ""));
  };
  const bool matrix = wanted.find("coordinate") != std::string_view::npos;
  if (matrix)
    allow(layout, "format", {"coordinate"});
  else
    allow(layout, "format", {"array"});
  allow(field, "field", {"real", "integer"});
  if (matrix)
    allow(symmetry, "symmetry", {"general", "symmetric"});
  else
    allow(symmetry, "symmetry", {"general"});
  return {.integer = field == "integer", .symmetric = symmetry == "symmetric"};
}

/// A whole number from `least` on.
std::int64_t index(const Lines& lines, std::string_view word, std::string_view what, std::int64_t least) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error == std::errc::result_out_of_range)
    lines.fail(fmt::format("{} {} does not fit 64 bits", what, in_quotes(word)));
  if (error != std::errc() || end != word.data() + word.size())
    lines.fail(word.empty() ? fmt::format("{} is missing", what)
                            : fmt::format("{} is a whole number, found {}", what, in_quotes(word)));
  if (value < least) lines.fail(fmt::format("{} is {}; allowed is {} or more", what, value, least));
  return value;
}

/// A value of an entry as a double.
double number(const Lines& lines, std::string_view word, bool integer) {
  if (word.empty()) lines.fail("the value is missing");
  const auto* begin = word.data() + (word.size() > 1 && word[0] == '+' && word[1] != '-' ? 1 : 0);
  const auto* end = word.data() + word.size();
  if (integer) {
    const auto value =
        index(lines, {begin, end}, "the value of an integer file", std::numeric_limits<std::int64_t>::min());
    if (value > largest_integer || value < -largest_integer)
      lines.fail(fmt::format("the value {} is beyond 2^53, so a double cannot hold it", value));
    return static_cast<double>(value);
  }
  double value = 0;
  auto result = std::from_chars(begin, end, value);
  std::string rewritten; // the exponent of Fortran
  if (result.ec == std::errc() && result.ptr != end && (*result.ptr == 'D' || *result.ptr == 'd')) {
    rewritten.assign(begin, end);
    rewritten[static_cast<std::size_t>(result.ptr - begin)] = 'e';
    begin = rewritten.data();
    end = begin + rewritten.size();
    result = std::from_chars(begin, end, value);
  }
  if (result.ec == std::errc::result_out_of_range)
    lines.fail(fmt::format("the value {} is beyond what a double can hold", in_quotes(word)));
  if (result.ec != std::errc() || result.ptr != end)
    lines.fail(fmt::format("the value is a number, found {}", in_quotes(word)));
  if (!std::isfinite(value)) lines.fail(fmt::format("the value is {}; it must be finite", in_quotes(word)));
  return value;
}

void require_end(const Lines& lines, std::string_view rest, std::string_view what) {
  const auto more = take_word(rest);
  if (!more.empty()) lines.fail(fmt::format("{}, found {} behind", what, in_quotes(more)));
}

/// How many lines of `least` characters or more are to come, after what the size line has said.
class Count {
 public:
  Count(const Lines& lines, std::int64_t count, std::string_view what, std::int64_t least)
      : size_line_(lines.number()), count_(count), what_(what), possible_(count) {
    if (lines.left() >= 0) possible_ = std::min(count, lines.left() / least + 1); // the last may lack its LF
  }

  /// No more than can come, where that is known.
  std::int64_t possible() const { return possible_; }
  /// What to reserve for: one who cannot know how long a file is does not trust it.
  std::size_t to_reserve(const Lines& lines) const {
    return static_cast<std::size_t>(lines.left() >= 0 ? possible_ : std::min<std::int64_t>(count_, 1 << 16));
  }
  void require_room(const Lines& lines, std::size_t so_far) const {
    if (static_cast<std::int64_t>(so_far) == count_)
      lines.fail(
          fmt::format("there are more {} than the {} that line {} announces", what_, count_, size_line_));
  }
  void require_all(const Lines& lines, std::size_t so_far) const {
    if (static_cast<std::int64_t>(so_far) < count_)
      lines.fail(fmt::format("the file ends after {} of the {} {} that line {} announces", so_far, count_,
                             what_, size_line_));
  }

 private:
  std::int64_t size_line_;
  std::int64_t count_;
  std::string_view what_;
  std::int64_t possible_;
};

void next_size_line(Lines& lines, std::string_view& line, std::string_view what) {
  if (!lines.next_with_content(line)) lines.fail(fmt::format("the file ends before its size line: {}", what));
}

} // namespace

CoordinateMatrix read_matrix(std::istream& in, const std::string& name, double memory) {
  Lines lines(in, name);
  const auto header = read_header(lines, "matrix coordinate real|integer general|symmetric");
  std::string_view line;
  constexpr std::string_view size_line = "rows, columns and entries";
  next_size_line(lines, line, size_line);
  const auto rows = index(lines, take_word(line), "the number of rows", 1);
  const auto columns = index(lines, take_word(line), "the number of columns", 1);
  const auto entries = index(lines, take_word(line), "the number of entries", 0);
  require_end(lines, line, fmt::format("the size line is {}", size_line));
  if (rows != columns)
    lines.fail(fmt::format("the matrix has {} rows and {} columns; it must be square", rows, columns));
  if (entries < rows)
    lines.fail(
        fmt::format("the matrix has {} rows and {} entries, so diagonal entries are missing: it is not "
                    "positive definite, which cg needs",
                    rows, entries));
  const Count count(lines, entries, "entries", 6); // "1 1 1\n"
  const double bytes = static_cast<double>(count.possible()) * sizeof(Entry);
  if (bytes > memory)
    lines.fail(fmt::format("{} entries take {:.4g} GB on rank 0, which has {:.4g} GB free", count.possible(),
                           bytes / 1e9, memory / 1e9));

  CoordinateMatrix matrix{.source = name, .rows = rows, .symmetric = header.symmetric, .entries = {}};
  matrix.entries.reserve(count.to_reserve(lines));
  while (lines.next_with_content(line)) {
    count.require_room(lines, matrix.entries.size());
    Entry entry;
    entry.row = index(lines, take_word(line), "the row", 1);
    entry.column = index(lines, take_word(line), "the column", 1);
    entry.value = number(lines, take_word(line), header.integer);
    entry.line = lines.number();
    require_end(lines, line, "an entry is a row, a column and a value");
    if (entry.row > rows || entry.column > columns)
      lines.fail(fmt::format("entry ({}, {}) is outside of the matrix; rows and columns go from 1 to {}",
                             entry.row, entry.column, rows));
    if (header.symmetric && entry.column > entry.row)
      lines.fail(fmt::format("entry ({}, {}) is above the diagonal; a symmetric file has the entries of the "
                             "lower triangle only",
                             entry.row, entry.column));
    --entry.row;
    --entry.column;
    matrix.entries.push_back(entry);
  }
  count.require_all(lines, matrix.entries.size());
  matrix.crc32 = lines.crc32();
  return matrix;
}

std::vector<double> read_vector(std::istream& in, const std::string& name, std::int64_t wanted) {
  Lines lines(in, name);
  const auto header = read_header(lines, "matrix array real|integer general");
  std::string_view line;
  next_size_line(lines, line, "rows and columns");
  const auto rows = index(lines, take_word(line), "the number of rows", 1);
  const auto columns = index(lines, take_word(line), "the number of columns", 1);
  require_end(lines, line, "the size line is rows and columns");
  if (rows != wanted || columns != 1)
    lines.fail(
        fmt::format("the array has {} rows and {} columns; allowed are the {} rows of the matrix and 1 "
                    "column",
                    rows, columns, wanted));
  const Count count(lines, rows, "values", 2); // "1\n"
  std::vector<double> values;
  values.reserve(count.to_reserve(lines));
  while (lines.next_with_content(line)) {
    count.require_room(lines, values.size());
    values.push_back(number(lines, take_word(line), header.integer));
    require_end(lines, line, "a line has one value");
  }
  count.require_all(lines, values.size());
  return values;
}

} // namespace kontor::cg
