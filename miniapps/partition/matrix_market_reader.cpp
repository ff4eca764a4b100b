// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "partition/matrix_market_reader.hpp"

#include "partition/lines.hpp"

#include <kontor/config/text.hpp>

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <cstdlib>

namespace kontor::partition {
namespace {

using config::in_quotes;

constexpr std::int64_t largest_integer = std::int64_t{1} << 53; ///< up to which doubles have all of them
constexpr double largest_value = 1e150;

/// What the header says.
struct Header {
  bool integer = false;
  bool symmetric = false;
  bool coordinate = false;
  bool pattern = false; ///< entries have no values
};

std::string lower(std::string_view word) {
  std::string result(word);
  for (auto& c : result)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return result;
}

/// Refuses by name what is no text, or hides something from who looks at it.
void require_text(const Lines& lines, std::string_view line) {
  struct Known {
    std::string_view begin, what;
  };
  const bool tar = lines.name().find(".tar.") != std::string::npos || lines.name().ends_with(".tgz");
  for (const auto& [begin, what] :
       {Known{"\x1f\x8b",
              tar ? "is a compressed tar archive: unpack it by tar xf" : "is compressed: decompress it by gunzip"},
        {"BZh", "is compressed: decompress it by bunzip2"},
        {"\xfd"
         "7zXZ",
         "is compressed: decompress it by unxz"},
        {"\x28\xb5\x2f\xfd", "is compressed: decompress it by unzstd"},
        {"PK\x03\x04", "is a zip archive: unpack it by unzip"},
        {"\xef\xbb\xbf", "begins with a byte order mark (EF BB BF), which editors do not show: save it as UTF-8 "
                         "without one, or take the first 3 bytes off by tail -c +4"},
        {"\xff\xfe", "is UTF-16, as its byte order mark (FF FE) tells: convert it by iconv -f UTF-16 -t ASCII"},
        {"\xfe\xff", "is UTF-16, as its byte order mark (FE FF) tells: convert it by iconv -f UTF-16 -t ASCII"}})
    if (line.starts_with(begin)) lines.fail(fmt::format("the file {}", what));
  if (line.size() > 262 && line.substr(257, 5) == "ustar")
    lines.fail("the file is a tar archive: unpack it by tar xf, and name the .mtx file in it");
}

/// Of the first line.
Header read_header(Lines& lines, std::string_view line, std::string_view wanted) {
  const auto expects = fmt::format("the file begins with the line \"%%MatrixMarket {}\"", wanted);
  auto rest = line;
  std::array<std::string, 5> words;
  for (auto& word : words) word = lower(take_word(rest));
  const auto& [banner, object, layout, field, symmetry] = words;
  if (banner != "%%matrixmarket" || object != "matrix" || symmetry.empty() || !take_word(rest).empty())
    lines.fail(fmt::format("{}, found {}", expects, in_quotes(line)));
  const auto allow = [&](const std::string& word, std::string_view what, std::string_view one, std::string_view other) {
    if (word != one && (other.empty() || word != other))
      lines.fail(fmt::format("the {} of the file is {}; allowed is {}{}{}", what, in_quotes(word), one,
                             other.empty() ? "" : " or ", other));
  };
  const bool matrix = wanted.ends_with("symmetric");
  allow(layout, "format", "coordinate", matrix ? "" : "array");
  const bool pattern = field == "pattern" && wanted.find("pattern") != std::string_view::npos;
  if (!pattern) allow(field, "field", "real", "integer");
  allow(symmetry, "symmetry", "general", matrix ? "symmetric" : "");
  return {.integer = field == "integer",
          .symmetric = symmetry == "symmetric",
          .coordinate = layout == "coordinate",
          .pattern = pattern};
}

/// Which from_chars() does not take.
std::string_view without_plus(std::string_view word) {
  return word.size() > 1 && word[0] == '+' && word[1] != '-' && word[1] != '+' ? word.substr(1) : word;
}

/// A whole number from `least` on.
std::int64_t index(const Lines& lines, std::string_view word, std::string_view what, std::int64_t least) {
  std::int64_t value = 0;
  const auto digits = without_plus(word);
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
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
  if (integer) {
    const auto value = index(lines, word, "the value of an integer file", std::numeric_limits<std::int64_t>::min());
    if (value > largest_integer || value < -largest_integer)
      lines.fail(fmt::format("the value {} is beyond 2^53, so a double cannot hold it", value));
    return static_cast<double>(value);
  }
  double value = 0;
  std::string text(without_plus(word));
  auto result = std::from_chars(text.data(), text.data() + text.size(), value);
  const auto read = static_cast<std::size_t>(result.ptr - text.data());
  if (result.ec == std::errc() && read < text.size()) { // 1.5D+3, or, where three digits leave no room, 1.5-101
    const char next = text[read];
    if (next == 'D' || next == 'd') text[read] = 'e';
    if ((next == '-' || next == '+') && text.find('.') < read) text.insert(read, 1, 'e');
    result = std::from_chars(text.data(), text.data() + text.size(), value);
  }
  const auto* end = text.data() + text.size();
  if (result.ec == std::errc::result_out_of_range) { // which does not say at which end
    value = std::strtod(text.c_str(), nullptr);
    if (std::abs(value) < 1) return value;
    lines.fail(fmt::format("the value {} is beyond what a double can hold", in_quotes(word)));
  }
  if (result.ec != std::errc() || result.ptr != end)
    lines.fail(fmt::format("the value is a number, found {}", in_quotes(word)));
  if (!std::isfinite(value)) lines.fail(fmt::format("the value is {}; it must be finite", in_quotes(word)));
  if (std::abs(value) > largest_value)
    lines.fail(fmt::format("the value is {}; allowed is up to {:g}, so that products of values are finite: scale "
                           "the system",
                           in_quotes(word), largest_value));
  return value;
}

void require_end(const Lines& lines, std::string_view rest, std::string_view what) {
  const auto more = take_word(rest);
  if (!more.empty()) lines.fail(fmt::format("{}, found {} behind", what, in_quotes(more)));
}

/// How many lines of `least` characters or more are to come, and who says so: "line 2 announces".
class Count {
 public:
  Count(const Lines& lines, std::int64_t count, std::string_view what, std::int64_t least, std::string who)
      : who_(std::move(who)), count_(count), what_(what), possible_(count) {
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
      lines.fail(fmt::format("there are more {} than the {} that {}", what_, count_, who_));
  }
  void require_all(const Lines& lines, std::size_t so_far) const {
    if (static_cast<std::int64_t>(so_far) < count_)
      lines.fail(fmt::format("the file ends after {} of the {} {} that {}", so_far, count_, what_, who_));
  }

 private:
  std::string who_;
  std::int64_t count_;
  std::string_view what_;
  std::int64_t possible_;
};

void next_size_line(Lines& lines, std::string_view& line, std::string_view what) {
  if (!lines.next_with_content(line)) lines.fail(fmt::format("the file ends before its size line: {}", what));
}

/// The entries of a matrix, or of a vector, whose only column is 1; in the result both count from 0.
std::vector<Entry> read_entries(Lines& lines, const Header& header, const Count& count, std::int64_t rows,
                                std::int64_t columns) {
  std::vector<Entry> entries;
  entries.reserve(count.to_reserve(lines));
  for (std::string_view line; lines.next_with_content(line);) {
    count.require_room(lines, entries.size());
    const auto row = index(lines, take_word(line), "the row", 1);
    const auto column = index(lines, take_word(line), "the column", 1);
    const double value = header.pattern ? 1 : number(lines, take_word(line), header.integer);
    require_end(lines, line,
                header.pattern ? "an entry is a row and a column" : "an entry is a row, a column and a value");
    if (row > rows || column > columns)
      lines.fail(fmt::format("entry ({}, {}) is outside: rows go from 1 to {}, columns from 1 to {}", row, column, rows,
                             columns));
    if (header.symmetric && column > row)
      lines.fail(fmt::format("entry ({}, {}) is above the diagonal; a symmetric file has the entries of the "
                             "lower triangle only",
                             row, column));
    entries.push_back({row - 1, column - 1, value, lines.number()});
  }
  count.require_all(lines, entries.size());
  return entries;
}

/// The lines of an array; `line` is the first of them, if it has content.
std::vector<double> read_array(Lines& lines, std::string_view line, const Count& count, bool integer) {
  std::vector<double> values;
  values.reserve(count.to_reserve(lines));
  for (bool more = content(line) || lines.next_with_content(line); more; more = lines.next_with_content(line)) {
    count.require_room(lines, values.size());
    values.push_back(number(lines, take_word(line), integer));
    require_end(lines, line, "a line has one value");
  }
  count.require_all(lines, values.size());
  return values;
}

/// The values of entries; the others are 0.
std::vector<double> values_of(const Lines& lines, std::int64_t rows, const std::vector<Entry>& entries) {
  std::vector<double> values(static_cast<std::size_t>(rows), 0);
  std::vector<std::int64_t> lines_of(values.size(), 0);
  for (const auto& entry : entries) {
    const auto row = static_cast<std::size_t>(entry.row);
    if (lines_of[row] > 0)
      fail_at(lines.name(), entry.line,
              fmt::format("entry ({}, 1) is given twice; the first is at line {}; remove one of them", entry.row + 1,
                          lines_of[row]));
    lines_of[row] = entry.line;
    values[row] = entry.value;
  }
  return values;
}

/// Of a system, every row must have its diagonal entry.
CoordinateMatrix read(std::istream& in, const std::string& name, double memory, bool of_system) {
  Lines lines(in, name);
  const std::string_view wanted = of_system ? "matrix coordinate real|integer general|symmetric"
                                            : "matrix coordinate pattern|real|integer general|symmetric";
  std::string_view line;
  if (!lines.next(line))
    fail_at(name, 0, fmt::format("the file is empty; it begins with the line \"%%MatrixMarket {}\"", wanted));
  require_text(lines, line);
  const auto header = read_header(lines, line, wanted);
  constexpr std::string_view size_line = "rows, columns and entries";
  next_size_line(lines, line, size_line);
  const auto rows = index(lines, take_word(line), "the number of rows", 1);
  const auto columns = index(lines, take_word(line), "the number of columns", 1);
  const auto entries = index(lines, take_word(line), "the number of entries", 0);
  require_end(lines, line, fmt::format("the size line is {}", size_line));
  if (rows != columns)
    lines.fail(fmt::format("the matrix has {} rows and {} columns; it must be square", rows, columns));
  if (of_system && entries < rows)
    lines.fail(fmt::format("the matrix has {} rows and {} entries, so diagonal entries are missing: it is not "
                           "positive definite, which cg needs",
                           rows, entries));
  const std::int64_t least = header.pattern ? 4 : 6; // "1 1\n" or "1 1 1\n"
  const Count count(lines, entries, "entries", least, fmt::format("line {} announces", lines.number()));
  const double bytes = static_cast<double>(count.possible()) * sizeof(Entry);
  if (bytes > memory)
    lines.fail(fmt::format("{} entries take {:.4g} GB on rank 0, which has {:.4g} GB free", count.possible(),
                           bytes / 1e9, memory / 1e9),
               "E-MEMORY");

  CoordinateMatrix matrix{.source = name, .rows = rows, .symmetric = header.symmetric, .entries = {}};
  matrix.entries = read_entries(lines, header, count, rows, columns);
  matrix.crc32 = lines.crc32();
  return matrix;
}

} // namespace

CoordinateMatrix read_matrix(std::istream& in, const std::string& name, double memory) {
  return read(in, name, memory, true);
}

CoordinateMatrix read_pattern(std::istream& in, const std::string& name, double memory) {
  return read(in, name, memory, false);
}

std::vector<double> read_vector(std::istream& in, const std::string& name, std::int64_t wanted) {
  Lines lines(in, name);
  std::string_view line;
  if (!lines.next(line)) fail_at(name, 0, fmt::format("the file is empty; it has {} values", wanted));
  require_text(lines, line);
  if (!line.starts_with("%%")) { // one number a line
    const Count count(lines, wanted, "values", 2, "the matrix has");
    return read_array(lines, line, count, false);
  }
  const auto header = read_header(lines, line, "matrix array|coordinate real|integer general");
  next_size_line(lines, line, "rows and columns");
  const auto rows = index(lines, take_word(line), "the number of rows", 1);
  const auto columns = index(lines, take_word(line), "the number of columns", 1);
  const auto entries = header.coordinate ? index(lines, take_word(line), "the number of entries", 0) : rows;
  require_end(lines, line,
              header.coordinate ? "the size line is rows, columns and entries" : "the size line is rows and columns");
  if (rows != wanted || columns != 1)
    lines.fail(fmt::format("the vector has {} rows and {} columns; allowed are the {} rows of the matrix and 1 "
                           "column",
                           rows, columns, wanted));
  const Count count(lines, entries, header.coordinate ? "entries" : "values", header.coordinate ? 6 : 2,
                    fmt::format("line {} announces", lines.number())); // "1 1 1\n" or "1\n"
  if (!header.coordinate) return read_array(lines, {}, count, header.integer);
  return values_of(lines, rows, read_entries(lines, header, count, rows, 1));
}

} // namespace kontor::partition
