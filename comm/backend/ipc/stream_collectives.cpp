// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reductions of a few numbers by mailboxes: a kernel of one block on each rank.
#include "backend/ipc/host_wait.hpp"
#include "backend/ipc/mailbox.hpp"
#include "backend/ipc/plan.hpp"
#include "backend/ipc/reduce_kernel.hpp"
#include "base/deadline.hpp"

#include <kontor/comm/views/layout.hpp>

#include <fmt/format.h>

namespace kontor::comm::ipc {
namespace {

/// Nothing if mailboxes do not take it.
std::optional<NumberReduction> mailbox_reduction(Scalar scalar, ReduceOp op, std::int64_t elements) {
  if (elements > static_cast<std::int64_t>(most_mailbox_bytes / scalar.size)) return std::nullopt;
  return number_reduction(scalar, op, elements);
}

/// The reductions of one mailbox, all on one stream: its kernels run one after the other in the same order on all
/// ranks. That of the communicator is used by none.
class Collectives final : public StreamCollectives {
 public:
  /// Collective. For up to so many bytes. Throws like Mailbox.
  Collectives(std::shared_ptr<MailboxPool> pool, std::size_t bytes)
      : pool_(std::move(pool)), context_(pool_->context()), timeout_(mpi::timeout(context_.options)),
        mailbox_(&pool_->take(bytes)), plan_(mailbox_->plan()) {
    plan_.timeout = static_cast<std::uint64_t>(timeout_ * 1e9);
  }

  ~Collectives() override {
    if (!queued_) {
      pool_->give_back(*mailbox_);
      return;
    }
    if (aborted_ || mpi::ends_alone(*context_.unsafe_to_free)) {
      if (end_waiting(mailbox_->signals(), [&] { return query(stream_); }) != cudaSuccess) pool_->leak(*mailbox_);
      return; // it stays taken: the steps of ranks may differ
    }
    static_cast<void>(cudaStreamSynchronize(stream_));
    if (late() == 0)
      pool_->give_back(*mailbox_);
    else
      *context_.unsafe_to_free = true; // and nobody has asked
  }

  bool reduces(Scalar scalar, ReduceOp op, std::int64_t count) const override {
    return mailbox_reduction(scalar, op, count).has_value();
  }
  bool any_stream() const override { return false; }

  std::unique_ptr<StreamCollectives> for_one_stream(std::size_t bytes) override {
    return std::make_unique<Collectives>(pool_, bytes);
  }

  void allreduce(Stream stream, const void* in, const Buffer& out, ReduceOp op) override {
    label_ = out.label;
    poll();
    const auto reduction = mailbox_reduction(out.scalar, op, element_count(out.shape)).value();
    stream_ = static_cast<cudaStream_t>(stream);
    queued_ = true;
    check_call(launch_reduce(plan_, reduction, in, out.data, stream_), "launching the kernel");
    if (timeout_ == 0) return;
    // At check level `cross_rank` errors belong to the step in which they come up.
    check_call(wait_for_stream(context_.comm, stream_), "waiting for it");
    poll();
  }

  void reduce(Stream, const Buffer&, void*, ReduceOp, int) override { refuse("reduce"); }
  void bcast(Stream, const Buffer&, int) override { refuse("bcast"); }
  void allgather(Stream, const Buffer&, void*) override { refuse("allgather"); }
  void alltoall(Stream, const Buffer&, void*) override { refuse("alltoall"); }

  void poll() override {
    const int rank = late();
    if (rank == 0) [[likely]]
      return;
    *context_.unsafe_to_free = true;
    throw Error(fmt::format("a reduction of View '{}': rank {} has waited {} s for rank {} to take part", label_,
                            mpi::rank_of(context_.comm), timeout_, rank - 1),
                "E-COMM-TIMEOUT");
  }

  void abort(Stream) noexcept override {
    aborted_ = true;
    *context_.unsafe_to_free = true;
    std::atomic_ref(mailbox_->signals().aborted).store(1);
  }

 private:
  /// 1 + the rank that has not come; 0: all have.
  int late() const { return static_cast<int>(device::load_relaxed(mailbox_->signals().late)); }

  void check_call(cudaError_t code, const char* operation) {
    if (code == cudaSuccess) [[likely]]
      return;
    *context_.unsafe_to_free = true;
    fail(code, fmt::format("a reduction of View '{}': {}", label_, operation));
  }

  [[noreturn]] static void refuse(const char* operation) {
    throw Error(fmt::format("backend 'ipc' has no {} of its own", operation), "E-COMM-BACKEND");
  }

  std::shared_ptr<MailboxPool> pool_;
  const BackendContext& context_;
  double timeout_;
  cudaStream_t stream_ = nullptr;
  Mailbox* mailbox_;
  DeviceReduction plan_;
  std::string label_; ///< for errors: of the last one
  bool queued_ = false;
  bool aborted_ = false;
};

} // namespace

std::unique_ptr<StreamCollectives> make_stream_collectives(const BackendContext& context, const Gpus& gpus) {
  if (mpi::size_of(context.comm) > most_mailbox_ranks) return nullptr;
  try {
    return std::make_unique<Collectives>(std::make_shared<MailboxPool>(context, gpus), 0);
  } catch (const UsageError&) {
    return nullptr;
  }
}

} // namespace kontor::comm::ipc
