// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/backend/backend.hpp>
#include <kontor/comm/communicator.hpp>
#include <kontor/comm/views/datatype.hpp>
#include <kontor/comm/views/lowering.hpp>

#include <mpi.h>

#include <memory>
#include <string>

/// How a Reduction goes.
namespace kontor::comm::detail {

/// Where the elements are combined: `mpi` where the Views lie, `host` in pinned memory, `stream` by the backend.
struct ReductionRoute {
  AccessibleTo where = AccessibleTo::mpi;
  StreamCollectives* collectives = nullptr; ///< the communicator's, for a stream
};

/// What a Reduction repeats: two Views, or one that is both, lowered to where they can be reduced, and the reduction.
/// All work on a device is queued on one instance. A step allocates nothing.
class RepeatedReduction : device::NonCopyable {
 public:
  /// Collective where a backend reduces. `views` own the memory. Throws AgreedError if MPI reduces and there are more
  /// than 2^31 - 1 elements.
  RepeatedReduction(const Communicator&, std::string label, const Buffer& in, const Buffer& out, ReduceOp,
                    std::shared_ptr<const Executor>, ReductionRoute, std::shared_ptr<void> views = nullptr);
  /// Collective in the middle of a step, which it ends. At once where the step has failed or this rank ends alone: what
  /// MPI may still use is leaked then.
  ~RepeatedReduction();

  /// Collective. Begins after the work that the caller's instance has been given, if that is another. Throws CallError
  /// in a step, and after one that failed.
  void start(const void* caller = nullptr);
  /// Local. Lets MPI go on.
  void progress();
  /// Collective. The result is valid for what the caller's instance is given from now on.
  void finish(const void* caller = nullptr);
  /// Local. Throws Error if a step has gone wrong on the device.
  void poll();
  bool stream_ordered() const { return route_.where == AccessibleTo::stream; }

 private:
  enum class Step : std::uint8_t { none, under_way, failed };
  [[noreturn]] void fail(const char* why) const;
  /// At check level `cross_rank`: all ranks do the same with the same reduction.
  void check_order(const char* step) const;
  void connect();
  const void* given() const { return in_ ? in_->data() : MPI_IN_PLACE; }
  void begin();
  void wait();
  void complete();
  /// Throws MpiError unless the code is success.
  void check(int code, const char* mpi_function) const;

  Communicator comm_;
  std::string label_;
  ReduceOp op_;
  std::shared_ptr<const Executor> executor_;
  std::shared_ptr<void> views_;
  ReductionRoute route_;
  std::unique_ptr<StreamCollectives> own_; ///< where the route's has some for one stream
  std::optional<Lowered> in_;              ///< nothing: in place
  Lowered out_;
  Buffer result_; ///< in one piece
  MPI_Datatype type_;
  MPI_Op mpi_op_;
  int count_ = 0;
  MPI_Request request_ = MPI_REQUEST_NULL;
  Step step_ = Step::none;
};

} // namespace kontor::comm::detail
