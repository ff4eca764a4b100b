// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/backend/backend.hpp>
#include <kontor/comm/communicator.hpp>
#include <kontor/comm/views/datatype.hpp>

#include <mpi.h>

#include <string>

namespace kontor::comm::detail {

/// Collective. Compares what the ranks are about to make. Throws AgreedError on every rank unless all make the same
/// reduction, with elements of equal extents, scalar, order and kind of memory, or if it is not available: MPI does not
/// define the operation, the two Views differ in extents or share memory, one of them has elements but no memory, or is
/// strided and packing is 'none'.
void agree_on_reduction(const Communicator&, const std::string& label, const Buffer& in, const Buffer& out, ReduceOp);

/// One reduction of contiguous host memory, again and again. Allocates when it is made.
class RepeatedAllreduce {
 public:
  /// Local. `in` has as many elements as `out`; null: those of `out` are reduced in place. The memory must outlive
  /// this. Throws AgreedError if there are more than 2^31 - 1 elements.
  RepeatedAllreduce(std::string label, const void* in, const Buffer& out, ReduceOp);

  /// Collective, without waiting: MPI_Iallreduce.
  void start(const Communicator&);
  /// Local. Lets MPI go on with what has been started.
  void progress();
  /// Waits for what has been started.
  void finish(const Communicator&);
  /// Collective. Both at once: MPI_Allreduce, or as above where a wait has an end.
  void run(const Communicator&);

 private:
  const void* given() const { return in_ ? in_ : MPI_IN_PLACE; }
  /// Throws MpiError unless the code is success.
  void check(int code, const char* mpi_function) const;

  std::string label_;
  const void* in_;
  Buffer out_;
  MPI_Datatype type_;
  MPI_Op op_;
  int count_ = 0;
  MPI_Request request_ = MPI_REQUEST_NULL;
};

} // namespace kontor::comm::detail
