// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/backend/buffer.hpp>
#include <kontor/comm/backend/layout.hpp>

#include <memory>
#include <string>
#include <vector>

/// The waist of the communication layer: what a backend is. No templates, no Kokkos and no mpi.h in this
/// file; it is called a few times per exchange and never per element.
namespace kontor::comm {

/// The MPI communicator a backend works on; defined in comm/mpi/handle.hpp.
struct BackendContext;

/// What a backend does natively. What it lacks is refused with a reason, never silently replaced.
struct Capabilities {
  bool strided_buffers = false; ///< takes non-contiguous buffers as they lie (packing: datatype)
  bool host_buffers = true;     ///< takes pointers to host memory
  bool device_buffers = false;  ///< takes pointers to device memory
  bool stream_ordered = false;  ///< plans queue their work on the schedule's stream: no call waits for it
  bool device_sums = false;     ///< has allreduce_on()
  bool moves_data = true;       ///< false: received data mean nothing, and cannot be verified
};

/// The native queue of an execution-space instance (cudaStream_t, hipStream_t); null on the host.
using Stream = void*;

/// Which ends of messages to and from a peer lie in memory of the backend's own, such as windows. The kernel
/// packs into it and unpacks from it, contiguous buffers included.
struct OwnMemory {
  bool sends = false;    ///< those that this rank sends
  bool receives = false; ///< those that it receives
};

/// One message as one of its two ends sees it. Sender and receiver have been matched by the handshake:
/// equal extents, scalar, tag and wire order.
struct Transfer {
  Buffer buffer;   ///< where this end's elements lie
  WireOrder order; ///< in which they travel
  int peer = 0;    ///< the rank at the other end
  int tag = 0;     ///< equal at both ends, and of no other message between them
  int turn = 0; ///< equal at both ends: a rank sends one message of this tag in this turn, and receives one
};

/// What a plan carries out: the messages of one exchange that this rank takes part in.
struct Schedule {
  std::string label;              ///< of the exchange, for errors
  std::vector<Transfer> sends;    ///< in the order of their tags
  std::vector<Transfer> receives; ///< in the order of their tags
  Stream stream = nullptr;        ///< on which the packing before and the unpacking after are queued
};

/// A repeatable exchange. Everything that repeats was made when the plan was: a step allocates nothing.
/// A step is prepare(), packing, start(), any other work, finish() or test() until it is true, unpacking,
/// release(). All of them but test() are
/// collective over the ranks of the plan, in the same order for all their plans. A backend that is
/// stream_ordered means by "on return" and "must be complete": for what is queued on the stream after and
/// before the call. It reports what went wrong on the device at a later call.
class Plan {
 public:
  virtual ~Plan() = default;
  Plan() = default;
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;

  /// On return the send buffers in the backend's own memory may be written. May wait for what peers did with
  /// them in the step before, never for what they do in this one.
  virtual void prepare() {}

  /// The send buffers must be complete in memory, and may not change before finish().
  virtual void start() = 0;

  /// On return the receive buffers hold the data and the send buffers are free.
  virtual void finish() = 0;

  /// Local; between start() and finish(). True if it has done what finish() does; else the step goes on. A
  /// plan that cannot tell without waiting waits.
  virtual bool test() {
    finish();
    return true;
  }

  /// The receive buffers in the backend's own memory have been read, on the host's clock.
  virtual void release() {}

  /// Local. A step that was started will not be finished, because of an error: takes back what can be taken
  /// back at once, and waits for nobody. Returns whether nothing of it is under way any more. Where something
  /// is, the plan and its buffers stay until another call returns true, or for ever.
  virtual bool give_up() noexcept { return true; }

  /// Local. Throws Error if a step has gone wrong on the device since. No other call tells while the device
  /// replays steps by itself, from a recording of its stream, as a stream_ordered backend allows.
  virtual void poll() {}
};

/// The reductions that MPI has by name. Sum and product take every arithmetic type and complex numbers, min
/// and max every arithmetic type, the logical and bitwise ones integers.
enum class ReduceOp {
  sum,
  product,
  min,
  max,
  logical_and,
  logical_or,
  logical_xor,
  bitwise_and,
  bitwise_or,
  bitwise_xor
};

/// "sum", "logical and"
const char* to_string(ReduceOp);

/// One way of moving data between the ranks of a communicator, and its collective operations.
class Backend {
 public:
  virtual ~Backend() = default;
  Backend() = default;
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;

  /// Local. Equal on all ranks.
  virtual Capabilities capabilities() const = 0;

  /// What a user should know about this choice on these ranks, such as messages that it hands to another
  /// transport; empty if there is nothing to say.
  virtual std::string remark() const { return {}; }

  /// Local.
  virtual OwnMemory own_memory([[maybe_unused]] int peer) const { return {}; }

  /// Collective: the handshake has been made. The buffers must outlive the plan. Those that own_memory()
  /// names come with null data and packed, and leave with their place, which lasts as long as the plan.
  /// Throws UsageError or AgreedError on every rank, or Error where no rank waits for this one.
  virtual std::unique_ptr<Plan> plan(Schedule&) = 0;

  /// Collective. `result` is contiguous and equal in extents on all ranks. What a rank contributes is as many
  /// elements at `contribution`, or what `result` holds where that is null.
  virtual void allreduce(const void* contribution, const Buffer& result, ReduceOp) = 0;

  /// Collective, queued on the stream: `result`, contiguous in device memory, becomes the reduction of what
  /// it holds on all ranks. Only where capabilities() has device_sums.
  virtual void allreduce_on(Stream, const Buffer& result, ReduceOp);

  /// Collective. `buffer` is contiguous and replaced by the root's.
  virtual void bcast(const Buffer& buffer, int root) = 0;

  /// Collective. Returns when all ranks have called it.
  virtual void barrier() = 0;
};

} // namespace kontor::comm
