// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <mpi.h>

#include <map>
#include <mutex>
#include <utility>

namespace kontor::comm::mpi {

/// MPI operations and datatypes that are made when first used, so that later calls are one MPI call each and
/// operations still under way keep theirs. Local; any thread.
class HandleCache {
 public:
  MPI_Op operation(MPI_User_function*, bool commutative);
  /// A contiguous type of so many bytes.
  MPI_Datatype bytes(int size);
  void free();

 private:
  std::mutex mutex_;
  std::map<std::pair<MPI_User_function*, bool>, MPI_Op> operations_;
  std::map<int, MPI_Datatype> types_;
};

} // namespace kontor::comm::mpi
