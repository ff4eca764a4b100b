// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cg/check/file_entries.hpp"

#include <kontor/comm/reductions.hpp>

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <unordered_map>

namespace kontor::cg {
namespace {

constexpr std::size_t most_entries = 80, most_numbers = 3 * most_entries;

/// A number of C or Fortran: 1.5D+3 and 1.5-101 have the exponent of 1.5e+3 and 1.5e-101.
double number_of(std::string word) {
  for (std::size_t i = 1; i < word.size(); ++i) {
    if (word[i] == 'D' || word[i] == 'd') word[i] = 'e';
    if ((word[i] == '+' || word[i] == '-') && word[i - 1] != 'e' && word[i - 1] != 'E') word.insert(i++, 1, 'e');
  }
  return std::strtod(word.c_str(), nullptr);
}

/// The next line that has words and is no comment, as a stream of words.
bool next_line(std::istream& file, std::istringstream& words) {
  for (std::string line; std::getline(file, line);) {
    const auto first = line.find_first_not_of(" \t\r\v\f");
    if (first == std::string::npos || line[first] == '%') continue;
    words = std::istringstream(line);
    return true;
  }
  return false;
}

/// The first line in small letters.
std::string header_of(std::istream& file) {
  std::string line;
  std::getline(file, line);
  for (auto& c : line) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return line;
}

} // namespace

void read_some_entries(const std::string& path, std::mt19937_64& random, ReferenceRows& reference) {
  if (!std::filesystem::is_regular_file(path)) return;
  std::ifstream file(path, std::ios::binary);
  auto header = header_of(file);
  const bool symmetric = header.find("symmetric") != std::string::npos;
  std::istringstream words;
  GlobalIndex rows = 0, columns = 0;
  if (next_line(file, words)) words >> rows >> columns >> reference.entries;
  if (symmetric) reference.entries = 2 * reference.entries - rows; // each row has its diagonal
  reference.all_entries = symmetric; // of a general file, zeros without a counterpart are left out
  const auto begin = static_cast<std::int64_t>(file.tellg());
  const auto end = static_cast<std::int64_t>(std::filesystem::file_size(path));
  std::uniform_int_distribution<std::int64_t> anywhere(begin, std::max(begin, end - 1));
  while (reference.of_file.size() < most_entries) {
    file.clear();
    file.seekg(reference.of_file.empty() ? begin : anywhere(random));
    if (!reference.of_file.empty()) std::getline(file, header); // from somewhere in this line to the next one
    GlobalIndex row = 0, column = 0;
    std::string value;
    if (!next_line(file, words)) {
      file.clear(); // it was the last one
      file.seekg(begin);
      next_line(file, words);
    }
    words >> row >> column >> value;
    reference.of_file.push_back({row - 1, column - 1, number_of(value)});
    if (symmetric) reference.of_file.push_back({column - 1, row - 1, number_of(value)});
  }
}

std::vector<double> read_some_values(const std::string& path, const std::vector<GlobalIndex>& rows) {
  std::vector<double> values(rows.size());
  std::ifstream file(path, std::ios::binary);
  std::string value;
  const auto header = header_of(file);
  const bool plain = !header.starts_with("%%"), coordinate = header.find("coordinate") != std::string::npos;
  if (plain) file.seekg(0);
  std::istringstream words;
  if (!plain) next_line(file, words);
  for (GlobalIndex row = 0; next_line(file, words); ++row) {
    GlobalIndex column = 0;
    if (coordinate) {
      words >> row >> column;
      --row;
    }
    const auto at = std::lower_bound(rows.begin(), rows.end(), row);
    if (at == rows.end() || *at != row) continue;
    words >> value;
    values[static_cast<std::size_t>(at - rows.begin())] = number_of(value);
  }
  return values;
}

ReferenceRows reference_of(const WholeSystem& whole, const MatrixMarketOptions& options, std::uint64_t seed) {
  const auto& matrix = whole.matrix;
  auto random = miniapp::generator_of(seed, 0);
  const auto sample = miniapp::sample_numbers(matrix.rows, most_reference_rows, random);
  std::vector<bool> wanted(static_cast<std::size_t>(matrix.rows));
  for (const auto row : sample) wanted[static_cast<std::size_t>(row)] = true;
  std::vector<std::vector<std::pair<GlobalIndex, double>>> rows(sample.size());
  const auto keep = [&](GlobalIndex row, GlobalIndex column, double value) {
    if (!wanted[static_cast<std::size_t>(row)]) return;
    rows[static_cast<std::size_t>(std::lower_bound(sample.begin(), sample.end(), row) - sample.begin())].emplace_back(
        column, value);
  };
  for_each_entry(matrix, keep);
  ReferenceRows reference;
  read_some_entries(options.file.path, random, reference);
  const auto in_file = [&](const config::InputFile& file, const std::vector<double>& found) {
    if (std::filesystem::is_regular_file(file.path)) return read_some_values(file.path, sample);
    std::vector<double> values(sample.size()); // without a file, or from a pipe, which cannot be read twice
    for (std::size_t r = 0; r < sample.size() && !found.empty(); ++r)
      values[r] = found[static_cast<std::size_t>(sample[r])];
    return values;
  };
  const auto rhs = in_file(options.rhs_file, whole.rhs), initial = in_file(options.initial_file, whole.initial);
  for (std::size_t r = 0; r < rows.size(); ++r) {
    double sum = 0, size = 0;
    for (const auto& [column, value] : rows[r]) {
      reference.add_entry(column, value);
      sum += value;
      size += std::abs(value);
    }
    if (options.rhs != RhsKind::a_times_ones) {
      sum = options.rhs == RhsKind::ones ? 1 : rhs[r];
      size = std::abs(sum);
    }
    reference.add_row(sample[r], sum, size, initial[r]);
  }
  reference.extents = {matrix.rows};
  return reference;
}

miniapp::Verification verify_entries(const comm::Communicator& comm, const Partition& partition,
                                     std::int64_t own_entries, const ReferenceRows& reference, const Apply& multiply,
                                     const Vector& all, const Vector& y) {
  std::array<double, most_numbers + 3> given{}; // row, column, value of each; then what is said of all
  std::size_t n = 0;
  for (const auto& entry : reference.of_file)
    for (const double number : {static_cast<double>(entry.row), static_cast<double>(entry.column), entry.value})
      given[n++] = number;
  if (comm.rank() == 0) {
    given[most_numbers] = static_cast<double>(reference.of_file.size());
    given[most_numbers + 1] = reference.all_entries ? 0 : 1;
    given[most_numbers + 2] = static_cast<double>(reference.entries);
  }
  given = comm::allreduce(comm, given, comm::ReduceOp::sum);
  const auto count = static_cast<std::size_t>(given[most_numbers]);

  const auto global = Kokkos::create_mirror_view_and_copy(
      Kokkos::HostSpace(), Kokkos::subview(partition.global, std::pair<std::size_t, std::size_t>(
                                                                 0, count > 0 ? partition.global.extent(0) : 0)));
  std::unordered_map<GlobalIndex, LocalIndex> wanted;
  for (std::size_t e = 0; e < count; ++e)
    for (const int k : {0, 1}) wanted[static_cast<GlobalIndex>(given[3 * e + k])] = -1;
  for (std::size_t i = 0; i < global.extent(0); ++i)
    if (const auto found = wanted.find(global(i)); found != wanted.end()) found->second = static_cast<LocalIndex>(i);
  const auto local = [&](std::size_t e, int k) { return wanted.at(static_cast<GlobalIndex>(given[3 * e + k])); };

  std::vector<std::size_t> open; // of own rows
  double largest = 0;
  for (std::size_t e = 0; e < count; ++e) {
    largest = std::max(largest, std::abs(given[3 * e + 2]));
    if (local(e, 0) >= 0 && local(e, 0) < partition.own) open.push_back(e);
  }
  const bool zeros = given[most_numbers + 1] > 0; // where entries may be left out
  const auto differs = [&](std::size_t e) {
    double used = 0;
    Kokkos::deep_copy(used, Kokkos::subview(y, local(e, 0)));
    const double value = given[3 * e + 2];
    return used != value && !(zeros && used == 0 && std::abs(value) <= 1e-12 * largest);
  };
  const auto multiply_columns = [&](const std::vector<std::size_t>& columns_of) {
    Kokkos::deep_copy(all, 0.0);
    for (const auto e : columns_of)
      if (local(e, 1) >= 0) Kokkos::deep_copy(Kokkos::subview(all, local(e, 1)), 1.0);
    multiply(all, y);
  };
  std::array<std::int64_t, 3> found{static_cast<std::int64_t>(open.size()), 0, own_entries};
  if (!open.empty()) multiply_columns(open);
  std::erase_if(open, [&](std::size_t e) { return !differs(e); });
  for (const auto e : open) { // others of their columns may be in the row
    multiply_columns({e});
    if (differs(e)) ++found[1];
  }
  found = comm::allreduce(comm, found, comm::ReduceOp::sum);
  const auto lost = static_cast<std::int64_t>(count) - found[0];
  if (found[1] + lost != 0)
    return {.measure = "entries of the file that the matrix has not", .error = static_cast<double>(found[1] + lost)};
  const double more = static_cast<double>(found[2]) - given[most_numbers + 2];
  miniapp::Verification result{.measure = "difference of the number of entries from the deck's",
                               .error = given[most_numbers + 2] == 0 || (zeros && more < 0) ? 0 : std::abs(more)};
  if (count > 0) result.judged = {fmt::format("{} entries of the file by a second reader", count)};
  if (given[most_numbers + 2] == 0) result.judged = {"no entry of the file, which cannot be read twice"};
  return result;
}

} // namespace kontor::cg
