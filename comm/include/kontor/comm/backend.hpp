// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/buffer.hpp>
#include <kontor/comm/layout.hpp>

#include <memory>
#include <string>
#include <vector>

/// The waist of the communication layer: what a backend is. No templates, no Kokkos and no mpi.h in this
/// file; it is called a few times per exchange and never per element.
namespace kontor::comm {

/// The MPI communicator a backend works on; defined in comm/mpi/handle.hpp.
struct MpiHandle;

/// What a backend does natively. What it lacks is refused with a reason, never silently replaced.
struct Capabilities {
  bool strided_buffers = false; ///< takes non-contiguous buffers as they lie (packing: datatype)
  bool device_buffers = false;  ///< takes pointers to device memory
};

/// One message as one of its two ends sees it. Sender and receiver have been matched by the handshake:
/// equal extents, scalar, tag and wire order.
struct Transfer {
  Buffer buffer;
  WireOrder order;
  int peer = 0;
  int tag = 0;
};

struct Schedule {
  std::string label; ///< of the exchange, for errors
  std::vector<Transfer> sends;
  std::vector<Transfer> receives;
};

/// A repeatable exchange. Everything that repeats was made when the plan was: a step allocates nothing.
class Plan {
 public:
  virtual ~Plan() = default;
  Plan() = default;
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;

  /// Collective over the ranks of the plan, in the same order for all their plans. The send buffers must
  /// be complete in memory, and may not change before finish().
  virtual void start() = 0;

  /// Collective like start(). On return the receive buffers hold the data and the send buffers are free.
  virtual void finish() = 0;
};

enum class ReduceOp { sum, product, min, max, logical_and, logical_or };

class Backend {
 public:
  virtual ~Backend() = default;
  Backend() = default;
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;

  virtual Capabilities capabilities() const = 0;

  /// Local: the handshake has been made. The buffers must outlive the plan.
  virtual std::unique_ptr<Plan> plan(const Schedule&) = 0;

  /// Collective. `buffer` is contiguous, equal in extents on all ranks, and replaced by the result.
  virtual void allreduce(const Buffer& buffer, ReduceOp) = 0;

  /// Collective. `buffer` is contiguous and replaced by the root's.
  virtual void bcast(const Buffer& buffer, int root) = 0;

  /// Collective. Returns when all ranks have called it.
  virtual void barrier() = 0;
};

} // namespace kontor::comm
