// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/options.hpp>
#include <kontor/comm/views/buffer.hpp>
#include <kontor/comm/views/layout.hpp>
#include <kontor/comm/views/predefined_op.hpp>
#include <kontor/device/noncopyable.hpp>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

/// What a backend is: the interface of the communication layer. No templates, no Kokkos and no mpi.h in this file; it
/// is called a few times per exchange and never per element.
namespace kontor::comm {

/// The MPI communicator a backend works on; defined in comm/backend/backend_context.hpp.
struct BackendContext;

/// Some of the values of an enumeration.
template <class Enum>
class Subset {
 public:
  /// Those listed.
  constexpr Subset(std::initializer_list<Enum> values) {
    for (const auto value : values) bits_ |= 1u << static_cast<unsigned>(value);
  }
  /// Whether it is one of them.
  constexpr bool has(Enum value) const { return (bits_ >> static_cast<unsigned>(value) & 1u) != 0; }

 private:
  unsigned bits_ = 0;
};

/// Every pattern there is.
inline constexpr Subset<Pattern> all_patterns{Pattern::blocking,     Pattern::nonblocking, Pattern::persistent,
                                              Pattern::neighborhood, Pattern::alltoall,    Pattern::two_hop,
                                              Pattern::rma};

/// What a backend does natively; equal on all ranks. What it lacks is refused with a reason, never silently replaced.
struct Capabilities {
  Subset<Pattern> patterns = all_patterns;                             ///< of its plans
  Subset<Packing> packings{Packing::kernel, Packing::none};            ///< of its plans
  std::string_view packings_because = "takes contiguous buffers only"; ///< why it has no others: a predicate
  bool indexed_buffers = false;                                        ///< packing datatype takes rows by index, too
  Subset<Pattern> own_memory{};    ///< patterns in which messages lie in host memory of its own
  bool host_buffers = true;        ///< takes pointers to host memory
  bool device_buffers = false;     ///< takes pointers to device memory
  bool stream_ordered = false;     ///< plans queue their work on the schedule's stream: no call waits for it
  bool stream_collectives = false; ///< can have stream_collectives()
  bool peer_memory = false;        ///< can have peer_memory(), where all ranks are on a node
  bool moves_data = true;          ///< false: received data mean nothing, and cannot be verified
  std::string_view same_calls{};   ///< a backend that makes the same calls: `auto` tries that one alone

  /// Whether it is a GPU library, which takes no host memory.
  bool on_devices_only() const { return device_buffers && !host_buffers; }
  /// Whether it hands the buffers to MPI.
  bool hands_to_mpi() const { return host_buffers && moves_data; }
};

/// The native stream of an execution-space instance (cudaStream_t, hipStream_t); null on the host.
using Stream = void*;

/// Which ends of messages to and from a peer lie in memory of the backend's own, such as windows. The kernel packs into
/// it and unpacks from it, contiguous buffers included.
struct OwnMemory {
  bool sends = false;    ///< those that this rank sends
  bool receives = false; ///< those that it receives
};

/// One message as one of its two ends sees it. Sender and receiver have been matched by the handshake: equal extents,
/// scalar, tag and wire order.
struct Transfer {
  Buffer buffer;   ///< where this end's elements lie
  WireOrder order; ///< in which they travel
  int peer = 0;    ///< the rank at the other end
  int tag = 0;     ///< equal at both ends, and of no other message between them
  int turn = 0;    ///< equal at both ends: a rank sends one message of this tag in this turn, and receives one
};

/// What a plan carries out: the messages of one exchange that this rank takes part in.
struct Schedule {
  std::string label;                      ///< of the exchange, for errors
  std::vector<Transfer> sends;            ///< in the order of their tags
  std::vector<Transfer> receives;         ///< in the order of their tags
  Stream stream = nullptr;                ///< on which the packing before and the unpacking after are queued
  Pattern pattern = Pattern::nonblocking; ///< one of Capabilities::patterns
  Packing packing = Packing::kernel;      ///< one of Capabilities::packings
};

/// A repeatable exchange. Everything that repeats was made when the plan was: a step allocates nothing. A step is
/// prepare(), packing, start(), any other work, finish() or test() until it is true, unpacking, release(). All of them
/// but test() are
/// collective over the ranks of the plan, in the same order for all their plans. A backend that is stream_ordered means
/// by "on return" and "must be complete": for what is queued on the stream after and before the call. It reports what
/// went wrong on the device at a later call.
///
/// A plan that is not stream_ordered is destroyed between steps only: with a step that an error has left, the plan and
/// its buffers are leaked.
class Plan : device::NonCopyable {
 public:
  /// Collective, unless an exception is passing or a step has failed.
  virtual ~Plan() = default;

  /// On return the send buffers in the backend's own memory may be written. May wait for what peers did with them in
  /// the step before, never for what they do in this one.
  virtual void prepare() {}

  /// The send buffers must be complete in memory, and may not change before finish().
  virtual void start() = 0;

  /// On return the receive buffers hold the data and the send buffers are free.
  virtual void finish() = 0;

  /// Local; between start() and finish(). True if it has done what finish() does; else the step goes on. A plan that
  /// cannot tell without waiting waits.
  virtual bool test() {
    finish();
    return true;
  }

  /// The receive buffers in the backend's own memory have been read, on the host's clock.
  virtual void release() {}

  /// Local. What a step waits for where test() was false: "rank 3 to send View 'a'".
  virtual std::string awaited() const { return "the other ranks"; }

  /// Local. Throws Error if a step has gone wrong on the device since. No other call tells while the device replays
  /// steps by itself, from a graph captured on its stream, as a stream_ordered backend allows.
  virtual void poll() {}
};

/// What Backend::plan() makes.
struct PlannedExchange {
  std::unique_ptr<Plan> plan; ///< what carries it out
  /// Where the buffers that own_memory() names lie, one for each of Schedule::sends, null for the others; empty if
  /// there are none. They last as long as the plan.
  std::vector<void*> sends{};
  std::vector<void*> receives{}; ///< the same for Schedule::receives
};

/// The collective operations that a backend has by itself: in contiguous memory of the device, queued on a stream; no
/// call waits. The operations are collective, in the same order as what else the backend does for these ranks.
class StreamCollectives : device::NonCopyable {
 public:
  /// Collective, unless an exception is passing or an operation has failed.
  virtual ~StreamCollectives() = default;

  /// Local. Whether it has this reduction of so many elements; equal on all ranks.
  virtual bool reduces(Scalar, ReduceOp, std::int64_t elements) const = 0;

  /// Local. Whether it serves calls on any stream, by all operations below; equal on all ranks. False: only each
  /// Reduction, by for_one_stream().
  virtual bool any_stream() const { return true; }

  /// Collective. Allreduces of up to so many bytes, all queued on one stream; they last at most as long as the backend.
  /// Null: this serves as well.
  virtual std::unique_ptr<StreamCollectives> for_one_stream([[maybe_unused]] std::size_t bytes) { return nullptr; }

  /// `out` becomes, on every rank, the combination of as many elements at `in`, which may be `out` itself.
  virtual void allreduce(Stream, const void* in, const Buffer& out, ReduceOp) = 0;

  /// The root's `out` becomes the combination of all ranks' `in`, which may be `out` itself.
  virtual void reduce(Stream, const Buffer& in, void* out, ReduceOp, int root) = 0;

  /// `buffer` is replaced by the root's.
  virtual void bcast(Stream, const Buffer& buffer, int root) = 0;

  /// `out` becomes all ranks' `in`, of equal sizes, which may lie where it belongs in `out`.
  virtual void allgather(Stream, const Buffer& in, void* out) = 0;

  /// The r-th of as many equal parts of `in` as there are ranks goes to rank r, and `out` gets one of each rank. They
  /// share no memory.
  virtual void alltoall(Stream, const Buffer& in, void* out) = 0;

  /// Local. Throws Error if something has gone wrong on the device since.
  virtual void poll() = 0;

  /// Local. What is queued on the stream may never end, because of an error: nobody waits for it.
  virtual void abort(Stream) noexcept = 0;
};

struct PeerSignals;

/// Memory of which each rank of a communicator has a part, mapped into all of them.
class PeerAllocation : device::NonCopyable {
 public:
  /// Collective, unless an exception is passing or a wait has failed. Kernels of this rank no longer use it.
  virtual ~PeerAllocation() = default;
  /// Local. The part of a rank, at a cache line.
  virtual std::byte* of(int rank) const = 0;
  /// Local. Those of this rank's kernels and its host.
  virtual PeerSignals* signals() const = 0;
};

/// One way of moving data between the ranks of a communicator. One object
/// serves all plans of a communicator, whatever their pattern and packing.
class Backend : device::NonCopyable {
 public:
  /// Collective, unless an exception is passing or a step has failed.
  virtual ~Backend() = default;

  /// What a user should know about this choice on these ranks, such as messages that it hands to another transport;
  /// empty if there is nothing to say.
  virtual std::string remark() const { return {}; }

  /// Local. Something only with the patterns that Capabilities::own_memory names.
  virtual OwnMemory own_memory([[maybe_unused]] int peer, [[maybe_unused]] Pattern pattern) const { return {}; }

  /// Collective: the handshake has been made. The buffers must outlive the plan. Those that own_memory() names come
  /// with null data and packed; where they lie is for the backend to say. Throws UsageError or AgreedError on every
  /// rank, or Error where no rank waits for this one.
  virtual PlannedExchange plan(const Schedule&) = 0;

  /// Collective where it is the first call. Null unless capabilities() has stream_collectives, and where these ranks
  /// cannot have them; lasts as long as the backend. All other collective operations are MPI's, on the Communicator.
  virtual StreamCollectives* stream_collectives() { return nullptr; }

  /// Collective. So many bytes for this rank, all zero; lasts at most as long as the backend. Throws UsageError on
  /// every rank if one of them cannot reach another. Null unless capabilities() has peer_memory.
  virtual std::unique_ptr<PeerAllocation> peer_memory([[maybe_unused]] std::size_t bytes) { return nullptr; }
};

} // namespace kontor::comm
