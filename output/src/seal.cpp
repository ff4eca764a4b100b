// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "seal.hpp"

#include "agree.hpp"
#include "descriptor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <fcntl.h>

namespace kontor::output {

namespace fs = std::filesystem;

namespace {

/// A part of a file: the values of a field, in words of so many bytes, or structure, which is between them.
struct Part {
  std::uint64_t bytes = 0, word = 0, sum = 0;
};

// A seal is at the end of a file: its parts in their order, and this.
struct Ending {
  std::uint64_t body = 0;  ///< bytes before the seal
  std::uint64_t parts = 0; ///< their number
  std::uint64_t own = 0;   ///< sum_of() the parts and of the numbers above
  std::array<char, 8> mark{'K', 'o', 'n', 't', 'o', 'r', '2', '\n'};
};

constexpr std::uint64_t block = 4 << 20; // bytes that are read at a time

std::uint64_t own_sum(const Ending& ending, const std::vector<Part>& parts) {
  return sum_of(parts.data(), parts.size() * sizeof(Part), 8, 2 * sizeof ending.body) + sum_of(&ending, 16, 8, 0);
}

/// Of a word at a place. Nearly all pairs of different words or places differ; as splitmix64 does.
std::uint64_t mixed(std::uint64_t word, std::uint64_t place) {
  std::uint64_t z = (word ^ (place + 1) * 0x9e3779b97f4a7c15) * 0xbf58476d1ce4e5b9;
  z = (z ^ z >> 32) * 0x94d049bb133111eb;
  return z ^ z >> 31;
}

template <class Word>
std::uint64_t sum_of_words(const char* data, std::uint64_t count, std::uint64_t place) {
  std::uint64_t sum = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    Word word;
    std::memcpy(&word, data + i * sizeof word, sizeof word);
    sum += mixed(word, place + i);
  }
  return sum;
}

/// Every `step`-th block from the `first` one: what it adds to the sum of a part that begins there.
std::uint64_t sum_in(int file, std::uint64_t begin, const Part& part, std::uint64_t first = 0, std::uint64_t step = 1) {
  std::uint64_t sum = 0;
  std::vector<char> room(std::min(block, part.bytes));
  for (std::uint64_t place = first * block; place < part.bytes; place += step * block) {
    const std::uint64_t bytes = std::min(block, part.bytes - place);
    read_at(file, begin + place, room.data(), bytes);
    sum += sum_of(room.data(), bytes, part.word > 0 ? part.word : 8, place);
  }
  return sum;
}

/// Of each part; rank 0 takes those that are not compared for right.
std::vector<std::uint64_t> sums_in(int file, const std::vector<Part>& parts, Compared compared, std::uint64_t rank,
                                   std::uint64_t ranks) {
  std::vector<std::uint64_t> sums;
  std::uint64_t begin = 0;
  for (const Part& part : parts) {
    const bool left_out = compared == Compared::structure && part.word > 0;
    sums.push_back(!left_out ? sum_in(file, begin, part, rank, ranks) : rank == 0 ? part.sum : 0);
    begin += part.bytes;
  }
  return sums;
}

/// Throws Error, with the first part whose sum is not that of the seal.
void compare(const std::vector<Part>& parts, const std::vector<std::uint64_t>& sums) {
  std::uint64_t begin = 0;
  for (std::size_t n = 0; n < parts.size(); begin += parts[n++].bytes)
    if (sums[n] != parts[n].sum)
      throw Error(fmt::format("its bytes {} to {} are not those that were written", begin, begin + parts[n].bytes - 1),
                  "E-FILE-DAMAGED");
}

Descriptor open_file(const fs::path& path) {
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)); // a pipe would be waited for
  if (file < 0) throw Error(std::strerror(errno), "E-FILE-READ");
  return file;
}

/// The seal of a file, which a foreign file may lack; throws Error if it is not whole.
std::vector<Part> read_seal(int file, bool foreign) {
  const std::uint64_t bytes = size_of(file);
  Ending ending;
  std::vector<Part> parts;
  if (bytes >= sizeof ending) read_at(file, bytes - sizeof ending, &ending, sizeof ending);
  if (bytes < sizeof ending || ending.mark != Ending{}.mark) {
    if (foreign) return parts;
    throw Error(fmt::format("there are no checksums at the end of its {} bytes; it is cut off, or no file that has "
                            "them",
                            bytes),
                "E-FILE-DAMAGED");
  }
  const bool fits = ending.parts <= bytes / sizeof(Part) &&
                    ending.body == bytes - sizeof ending - ending.parts * sizeof(Part); // may wrap around
  if (fits) {
    parts.resize(ending.parts);
    read_at(file, ending.body, parts.data(), parts.size() * sizeof(Part));
  }
  if (!fits || own_sum(ending, parts) != ending.own)
    throw Error("the checksums at its end are damaged", "E-FILE-DAMAGED");
  return parts;
}

/// Collective over comm. A step whose Error names the file.
template <class Step>
void reading(MPI_Comm comm, const fs::path& path, const Step& step) {
  try {
    collectively(comm, step);
  } catch (const Error& error) {
    throw Error(fmt::format("{}: {}", path.string(), error.what()), "E-FILE-READ");
  }
}

void add_up(MPI_Comm comm, std::vector<std::uint64_t>& sums) {
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, sums.data(), static_cast<int>(sums.size()), MPI_UINT64_T, MPI_SUM, comm),
            "MPI_Allreduce");
}

} // namespace

std::uint64_t sum_of(const void* data, std::uint64_t bytes, std::uint64_t word, std::uint64_t place) {
  const auto* const from = static_cast<const char*>(data);
  const std::uint64_t count = bytes / word, rest = count * word;
  const std::uint64_t sum = word == 8 ? sum_of_words<std::uint64_t>(from, count, place / word)
                                      : sum_of_words<std::uint32_t>(from, count, place / word);
  return sum + sum_of_words<std::uint8_t>(from + rest, bytes - rest, place + rest);
}

void seal(int descriptor, std::vector<StoredField> fields) {
  Ending ending{.body = size_of(descriptor)};
  std::vector<Part> parts;
  std::uint64_t end = 0;
  const auto add_rest = [&](std::uint64_t until) {
    Part rest{.bytes = until - end};
    rest.sum = sum_in(descriptor, end, rest);
    if (rest.bytes > 0) parts.push_back(rest);
  };
  std::erase_if(fields, [](const StoredField& field) { return field.bytes == 0; });
  std::ranges::sort(fields, {}, &StoredField::address);
  for (const StoredField& field : fields) {
    add_rest(field.address);
    parts.push_back({field.bytes, field.word, field.sum});
    end = field.address + field.bytes;
  }
  add_rest(ending.body);
  ending.parts = parts.size();
  ending.own = own_sum(ending, parts);
  write_at(descriptor, ending.body, parts.data(), parts.size() * sizeof(Part));
  write_at(descriptor, ending.body + parts.size() * sizeof(Part), &ending, sizeof ending);
}

void check_seal(MPI_Comm comm, const fs::path& path, Compared compared) {
  std::vector<Part> parts;
  std::vector<std::uint64_t> sums;
  reading(comm, path, [&] {
    const auto file = open_file(path);
    parts = read_seal(file, compared == Compared::structure);
    sums = sums_in(file, parts, compared, static_cast<std::uint64_t>(my_rank(comm)),
                   static_cast<std::uint64_t>(rank_count(comm)));
  });
  add_up(comm, sums);
  reading(comm, path, [&] { compare(parts, sums); });
}

void check_seal(const fs::path& path, Compared compared) {
  const auto file = open_file(path);
  const auto parts = read_seal(file, true);
  compare(parts, sums_in(file, parts, compared, 0, 1));
}

std::string contents_of(MPI_Comm comm, const fs::path& path) {
  Part all;
  std::vector<std::uint64_t> sums;
  reading(comm, path, [&] {
    const auto file = open_file(path);
    all.bytes = size_of(file);
    sums.push_back(
        sum_in(file, 0, all, static_cast<std::uint64_t>(my_rank(comm)), static_cast<std::uint64_t>(rank_count(comm))));
  });
  add_up(comm, sums);
  return fmt::format("{} bytes, checksum {:016x}", all.bytes, sums[0]);
}

} // namespace kontor::output
