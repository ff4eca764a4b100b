// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "backend/backend_context.hpp"
#include "backend/start_order.hpp"

#include <kontor/comm/views/datatype.hpp>

namespace kontor::comm::mpi {

/// One message, ready to be handed to MPI every step.
struct Message {
  void* data;
  int count;
  MPI_Datatype type;
  int peer;
  int tag;
  int turn;
  std::string label;  ///< of the View
  Datatype made = {}; ///< `type`, where it is the message's own
};

/// The messages of a plan.
struct MessageSet {
  std::string label; ///< of the exchange
  std::vector<Message> sends;
  std::vector<Message> receives;
};

/// Local. A buffer as a message: a contiguous one by pointer and count, another one by a derived datatype.
Message message(const Transfer&);
MessageSet messages(const Schedule&);

/// What all plans have in common that call MPI: after an error the communicator is not freed.
class MpiPlan : public Plan {
 protected:
  MpiPlan(const BackendContext& context, std::string label)
      : comm_(context.comm), unsafe_to_free_(context.unsafe_to_free), label_(std::move(label)) {}

  MPI_Comm comm() const { return comm_; }
  /// Of the exchange.
  const std::string& label() const { return label_; }
  bool ends_alone() const { return mpi::ends_alone(*unsafe_to_free_); }
  void mark_unsafe_to_free() const { *unsafe_to_free_ = true; }

  /// Throws MpiError unless `code` is success: "exchange 'halo': MPI_Startall failed: ...".
  void check_step(int code, const char* operation) const {
    if (code != MPI_SUCCESS) [[unlikely]]
      fail_step(code, operation);
  }
  /// Likewise: "exchange 'halo': MPI_Isend to rank 1 of View 'u' failed: ..."; `operation` is "MPI_Isend to".
  void check_message(int code, const char* operation, const Message& message) const {
    if (code != MPI_SUCCESS) [[unlikely]]
      fail_message(code, operation, message);
  }

 private:
  [[noreturn]] void fail_step(int code, const std::string& operation) const;
  [[noreturn]] void fail_message(int code, const char* operation, const Message&) const;

  MPI_Comm comm_;
  std::shared_ptr<bool> unsafe_to_free_;
  std::string label_;
};

/// The patterns whose messages arrive in windows.
inline constexpr Subset<Pattern> own_memory{Pattern::rma};

/// What every backend that talks plain MPI shares: plans by pattern.
class MpiBackend : public Backend {
 public:
  explicit MpiBackend(const BackendContext& context) : context_(context) {}

  OwnMemory own_memory(int peer, Pattern) const override;
  PlannedExchange plan(const Schedule&) override;

 protected:
  const BackendContext& context() const { return context_; }
  /// Collective where it is the first call.
  const std::shared_ptr<StartOrder>& start_order() {
    if (!order_) order_ = std::make_shared<StartOrder>(context_);
    return order_;
  }

 private:
  BackendContext context_;
  std::shared_ptr<StartOrder> order_; ///< of plans without tags
};

// A plan for each of comm::Pattern. All are collective over the communicator; only neighborhood, alltoall, two_hop and
// rma talk to other ranks to make a plan.

std::unique_ptr<Plan> make_blocking(const BackendContext&, MessageSet);
std::unique_ptr<Plan> make_nonblocking(const BackendContext&, MessageSet);
std::unique_ptr<Plan> make_persistent(const BackendContext&, MessageSet);
std::unique_ptr<Plan> make_neighborhood(const BackendContext&, MessageSet);
std::unique_ptr<Plan> make_alltoall(const BackendContext&, MessageSet);
std::unique_ptr<Plan> make_two_hop(const BackendContext&, MessageSet);
/// The receives land in a window of the plan's own.
PlannedExchange make_rma(const BackendContext&, const Schedule&);

} // namespace kontor::comm::mpi
