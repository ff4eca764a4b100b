// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <mpi.h>

#include <cstdint>
#include <filesystem>
#include <functional>

namespace kontor::output {

/// Collective over comm. Opens the file, which is there, on all ranks that ask for it, calls write(descriptor),
/// elsewhere write(-1), and closes it; an Error on one rank is one on all.
void with_shared_file(MPI_Comm comm, const std::filesystem::path& path, bool opens,
                      const std::function<void(int)>& write);

/// Local. Writes `bytes` at byte `position`. Throws Error.
void write_at(int descriptor, std::uint64_t position, const void* data, std::uint64_t bytes);

/// Local. Fills `to`; throws Error if the file has less.
void read_at(int descriptor, std::uint64_t position, void* to, std::uint64_t bytes);

/// Asks the system to bring what has been written to the disk, so that it is busy before the sync, which alone counts.
class EarlySync {
 public:
  explicit EarlySync(int descriptor) : descriptor_(descriptor) {}

  /// Local. So many bytes have been written. What follows each other in the file goes on its way piece by piece;
  /// elsewhere the system would have to find places on the disk for rows between which others are still missing.
  void wrote(std::uint64_t position, std::uint64_t bytes);

 private:
  int descriptor_;
  std::uint64_t begun_ = 0, end_ = 0; ///< what follows each other and is not yet on its way
};

} // namespace kontor::output
