// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "seal.hpp"

#include "agree.hpp"
#include "box.hpp"
#include "checksum.hpp"
#include "descriptor.hpp"
#include "shared_file.hpp"

#include <kontor/output/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace kontor::output {

namespace fs = std::filesystem;

namespace {

// A seal is at the end of a file: a checksum of each block of what is before, and this.
struct Ending {
  std::uint64_t body = 0;   ///< bytes before the seal
  std::uint64_t block = 0;  ///< bytes of a block; the last may be shorter
  std::uint64_t blocks = 0; ///< checksums before the ending
  std::uint64_t own = 0;    ///< checksum of the seal up to here
  std::array<char, 8> mark{'K', 'o', 'n', 't', 'o', 'r', '1', '\n'};
};

std::uint64_t own_sum(const Ending& ending, const std::vector<std::uint64_t>& sums) {
  const std::array<std::uint64_t, 3> sizes{ending.body, ending.block, ending.blocks};
  return checksum(sizes.data(), sizeof sizes, checksum(sums.data(), sums.size() * sizeof sums[0]));
}

std::uint64_t size_of(int descriptor) {
  struct stat status {};
  if (::fstat(descriptor, &status) != 0) throw Error(std::strerror(errno));
  return static_cast<std::uint64_t>(status.st_size);
}

Descriptor open_regular(const fs::path& path) {
  // Not blocking, since a pipe would be waited for.
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat status {};
  if (file < 0 || ::fstat(file, &status) != 0) throw Error(std::strerror(errno));
  if (!S_ISREG(status.st_mode)) throw Error("it is not a regular file");
  return file;
}

constexpr std::uint64_t largest_element = 8; // bytes

/// Calls take(number, checksum, data) for every `step`-th block from the `first` one. Behind the block, the data has
/// the rest of an element that begins in it.
template <class Take>
void for_blocks(int descriptor, const Ending& ending, std::uint64_t first, std::uint64_t step, const Take& take) {
  std::vector<char> room(std::min(ending.block + largest_element, ending.body));
  for (std::uint64_t n = first; n < ending.blocks; n += step) {
    const std::uint64_t left = ending.body - n * ending.block;
    read_at(descriptor, n * ending.block, room.data(), std::min<std::uint64_t>(room.size(), left));
    take(n, checksum(room.data(), std::min(ending.block, left)), room.data());
  }
}

/// The part of a field's sum that is in a block: that of the elements which begin there.
std::uint64_t sum_in_block(const StoredField& field, std::uint64_t begin, std::uint64_t end, const char* data) {
  const auto elements_before = [&](std::uint64_t byte) {
    return byte <= field.address ? 0 : std::min(field.count, (byte - field.address + field.size - 1) / field.size);
  };
  const std::uint64_t first = elements_before(begin), last = elements_before(end);
  if (first >= last) return 0;
  return run_sum(data + (field.address + first * field.size - begin), field.size, first, last - first);
}

/// The seal of a file; throws Error if it has none that is whole.
std::vector<std::uint64_t> read_seal(int descriptor, Ending& ending) {
  const std::uint64_t bytes = size_of(descriptor);
  if (bytes < sizeof ending)
    throw Error(fmt::format("it has {} bytes only, and no checksums", bytes), "E-FILE-DAMAGED");
  read_at(descriptor, bytes - sizeof ending, &ending, sizeof ending);
  if (ending.mark != Ending{}.mark)
    throw Error(fmt::format("there are no checksums at the end of its {} bytes; it is cut off, or no file "
                            "that has them",
                            bytes),
                "E-FILE-DAMAGED");
  const std::uint64_t room = (bytes - sizeof ending) / sizeof(std::uint64_t);
  if (ending.block == 0 || ending.blocks > room || ending.body > bytes ||
      ending.blocks != ending.body / ending.block + (ending.body % ending.block > 0 ? 1 : 0) ||
      bytes != ending.body + ending.blocks * sizeof(std::uint64_t) + sizeof ending)
    throw Error(fmt::format("the checksums at the end of its {} bytes do not belong to it", bytes), "E-FILE-DAMAGED");
  std::vector<std::uint64_t> sums(ending.blocks);
  read_at(descriptor, ending.body, sums.data(), sums.size() * sizeof sums[0]);
  if (own_sum(ending, sums) != ending.own) throw Error("the checksums at its end are damaged", "E-FILE-DAMAGED");
  return sums;
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

} // namespace

std::vector<std::uint64_t> append_seal(MPI_Comm comm, const fs::path& path, int descriptor, bool reads,
                                       const std::vector<StoredField>& fields) {
  const int rank = my_rank(comm);
  // Which ranks read, and where this one is among them.
  int me = reads ? 1 : 0, before = 0, readers = 0;
  check_mpi(MPI_Scan(&me, &before, 1, MPI_INT, MPI_SUM, comm), "MPI_Scan");
  check_mpi(MPI_Allreduce(&me, &readers, 1, MPI_INT, MPI_SUM, comm), "MPI_Allreduce");
  Ending ending{.block = cached_bytes};
  std::vector<std::uint64_t> sums, field_sums(fields.size());
  collectively(comm, [&] {
    if (rank == 0) ending.body = size_of(descriptor);
  });
  check_mpi(MPI_Bcast(&ending.body, 1, MPI_UINT64_T, 0, comm), "MPI_Bcast");
  ending.blocks = (ending.body + ending.block - 1) / ending.block;
  sums.resize(ending.blocks);
  collectively(comm, [&] {
    if (!reads) return;
    const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (file < 0) throw Error(fmt::format("cannot be read again: {}", std::strerror(errno)));
    for_blocks(file, ending, static_cast<std::uint64_t>(before - 1), static_cast<std::uint64_t>(readers),
               [&](std::uint64_t n, std::uint64_t sum, const char* data) {
                 sums[n] = sum;
                 const std::uint64_t begin = n * ending.block, end = std::min(begin + ending.block, ending.body);
                 for (std::size_t f = 0; f < fields.size(); ++f)
                   field_sums[f] += sum_in_block(fields[f], begin, end, data);
               });
  });
  check_mpi(MPI_Reduce(rank == 0 ? MPI_IN_PLACE : sums.data(), sums.data(), static_cast<int>(sums.size()), MPI_UINT64_T,
                       MPI_SUM, 0, comm),
            "MPI_Reduce");
  collectively(comm, [&] {
    if (rank != 0) return;
    ending.own = own_sum(ending, sums);
    write_at(descriptor, ending.body, sums.data(), sums.size() * sizeof sums[0]);
    write_at(descriptor, ending.body + sums.size() * sizeof sums[0], &ending, sizeof ending);
  });
  return field_sums;
}

void check_seal(MPI_Comm comm, const fs::path& path) {
  reading(comm, path, [&] {
    const int rank = my_rank(comm), ranks = rank_count(comm);
    const auto file = open_regular(path);
    Ending ending;
    const auto sums = read_seal(file, ending);
    for_blocks(file, ending, static_cast<std::uint64_t>(rank), static_cast<std::uint64_t>(ranks),
               [&](std::uint64_t n, std::uint64_t sum, const char*) {
                 if (sum != sums[n])
                   throw Error(fmt::format("its bytes {} to {} are not those that were written", n * ending.block,
                                           std::min((n + 1) * ending.block, ending.body) - 1),
                               "E-FILE-DAMAGED");
               });
  });
}

std::string contents_of(MPI_Comm comm, const std::filesystem::path& path) {
  std::uint64_t bytes = 0, sum = 0;
  reading(comm, path, [&] {
    const auto file = open_regular(path);
    bytes = size_of(file);
    const auto ranks = static_cast<std::uint64_t>(rank_count(comm));
    std::vector<char> block(std::min(bytes, cached_bytes));
    for (auto n = static_cast<std::uint64_t>(my_rank(comm)); n * cached_bytes < bytes; n += ranks) {
      const std::uint64_t begin = n * cached_bytes, count = std::min(cached_bytes, bytes - begin);
      read_at(file, begin, block.data(), count);
      sum += checksum(block.data(), count, n + 1);
    }
  });
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_UINT64_T, MPI_SUM, comm), "MPI_Allreduce");
  return fmt::format("{} bytes, checksum {:016x}", bytes, sum);
}

} // namespace kontor::output
