// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "shared_file.hpp"

#include "agree.hpp"
#include "transfer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace kontor::output {

// What is written must fail without leaving ranks to wait for each other, and that rules out three ways:
// - through HDF5: after a failed write HDF5 (1.10.8) writes its own data again while closing, gives up there
//   on the rank that failed, and the others stay in a barrier; so values go where HDF5 has put the dataset;
// - MPI_File_write_at_all: Open MPI (4.1.4) never returns from it if the aggregating rank cannot write;
// - ROMIO's data sieving, which reads, changes and writes back what lies between rows: it locks that part of
//   the file, and after a failed write (MPICH 4.0.2) never unlocks it. So what is not contiguous is written
//   row by row, which also knows no limit of 2^31 elements along an axis, as MPI's datatypes of subarrays do.
void with_shared_file(MPI_Comm comm, const std::filesystem::path& path,
                      const std::function<void(MPI_File)>& write) {
  MPI_File file = MPI_FILE_NULL;
  collectively(comm, [&] {
    check_local_mpi(MPI_File_open(comm, path.c_str(), MPI_MODE_WRONLY, MPI_INFO_NULL, &file), "MPI_File_open");
  });
  std::string failure;
  try {
    collectively(comm, [&] { write(file); });
  } catch (const Error& error) { // on every rank
    failure = error.what();
  }
  collectively(comm, [&] {
    const int closed = MPI_File_close(&file);
    if (!failure.empty()) // the first failure is the one to tell
      throw Error(failure);
    check_local_mpi(closed, "MPI_File_close");
  });
}

void write_at(MPI_File file, std::uint64_t position, const std::byte* data, std::uint64_t bytes) {
  while (bytes > 0) {
    MPI_Status status;
    const int piece = static_cast<int>(std::min(bytes, parallel_bytes));
    errno = 0;
    const int result =
        MPI_File_write_at(file, static_cast<MPI_Offset>(position), data, piece, MPI_BYTE, &status);
    const int reason = errno; // what MPI says of it is "input/output error" (ROMIO), or nothing (Open MPI)
    int written = 0;
    if (result == MPI_SUCCESS) check_local_mpi(MPI_Get_count(&status, MPI_BYTE, &written), "MPI_Get_count");
    if (written <= 0 || written > piece) {
      if (reason != 0) throw Error(fmt::format("MPI_File_write_at failed: {}", std::strerror(reason)));
      check_local_mpi(result, "MPI_File_write_at");
      throw Error(fmt::format("MPI_File_write_at wrote none of {} bytes; is the disk full?", piece));
    }
    position += written;
    data += written;
    bytes -= written;
  }
}

} // namespace kontor::output
