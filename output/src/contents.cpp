// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "agree.hpp"
#include "box.hpp"
#include "checksum.hpp"
#include "descriptor.hpp"
#include "shared_file.hpp"

#include <kontor/output/contents.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <vector>

namespace kontor::output {

std::string contents_of(MPI_Comm comm, const std::filesystem::path& path) {
  std::uint64_t bytes = 0, sum = 0;
  try {
    collectively(comm, [&] {
      // Not blocking, since a pipe would be waited for.
      const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
      struct stat status {};
      if (file < 0 || ::fstat(file, &status) != 0) throw Error(std::strerror(errno));
      if (!S_ISREG(status.st_mode)) throw Error("it is not a regular file");
      bytes = static_cast<std::uint64_t>(status.st_size);
      const auto ranks = static_cast<std::uint64_t>(rank_count(comm));
      std::vector<char> block(std::min(bytes, cached_bytes));
      for (auto n = static_cast<std::uint64_t>(my_rank(comm)); n * cached_bytes < bytes; n += ranks) {
        const std::uint64_t begin = n * cached_bytes, count = std::min(cached_bytes, bytes - begin);
        read_at(file, begin, block.data(), count);
        sum += checksum(block.data(), count, n + 1);
      }
    });
  } catch (const Error& error) {
    throw Error(fmt::format("{}: {}", path.string(), error.what()), "E-FILE-READ");
  }
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_UINT64_T, MPI_SUM, comm), "MPI_Allreduce");
  return fmt::format("{} bytes, checksum {:016x}", bytes, sum);
}

} // namespace kontor::output
