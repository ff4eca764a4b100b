// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "shared_file.hpp"

#include "agree.hpp"
#include "descriptor.hpp"
#include "transfer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

namespace kontor::output {

// Each rank writes by itself, because what is written must fail without leaving ranks to wait for each other, and a
// killed run must leave nothing but what its lock names. That rules out
// - HDF5: after a failed write HDF5 (1.10.8) writes its own data again while closing, gives up there on the
//   rank that failed, and the others stay in a barrier; so values go where HDF5 has put the dataset;
// - MPI_File_open: where one rank cannot open the file, Open MPI's (4.1.4) others wait for it for ever; and
// it
//   makes files for shared file pointers, which nobody asked for, in /dev/shm and beside the file;
// - MPI_File_write_at_all: Open MPI never returns from it if the aggregating rank cannot write;
// - ROMIO's data sieving, which reads, changes and writes back what lies between rows: it locks that part of
//   the file, and after a failed write (MPICH 4.0.2) never unlocks it.
void with_shared_file(MPI_Comm comm, const std::filesystem::path& path, bool opens,
                      const std::function<void(int)>& write) {
  Descriptor file;
  collectively(comm, [&] {
    if (!opens) return;
    file = Descriptor(::open(path.c_str(), O_WRONLY | O_NOFOLLOW | O_CLOEXEC));
    if (file < 0) throw Error(fmt::format("cannot be opened to write to it: {}", std::strerror(errno)));
  });
  collectively(comm, [&] { write(file); });
}

void write_at(int descriptor, std::uint64_t position, const void* data, std::uint64_t bytes) {
  const auto* from = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t put = ::pwrite(descriptor, from, std::min(bytes, parallel_bytes), static_cast<off_t>(position));
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) throw Error(fmt::format("write failed: {}", std::strerror(errno)));
    position += static_cast<std::uint64_t>(put);
    from += put;
    bytes -= static_cast<std::uint64_t>(put);
  }
}

void read_at(int descriptor, std::uint64_t position, void* to, std::uint64_t bytes) {
  auto* data = static_cast<char*>(to);
  while (bytes > 0) {
    const ssize_t got = ::pread(descriptor, data, bytes, static_cast<off_t>(position));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw Error(fmt::format("read failed: {}", std::strerror(errno)));
    if (got == 0) throw Error(fmt::format("it ends at byte {}", position), "E-FILE-DAMAGED");
    data += got;
    position += static_cast<std::uint64_t>(got);
    bytes -= static_cast<std::uint64_t>(got);
  }
}

void EarlySync::wrote(std::uint64_t position, std::uint64_t bytes) {
  if (position != end_) begun_ = position;
  end_ = position + bytes;
  if (end_ - begun_ < long_row_bytes) return;
#ifdef SYNC_FILE_RANGE_WRITE // of Linux
  ::sync_file_range(descriptor_, static_cast<off64_t>(begun_), static_cast<off64_t>(end_ - begun_),
                    SYNC_FILE_RANGE_WRITE);
#endif
  begun_ = end_;
}

} // namespace kontor::output
