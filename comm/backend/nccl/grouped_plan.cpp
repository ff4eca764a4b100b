// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A step is one NCCL group of all sends and receives, queued on the stream: the host waits for nothing. What goes wrong
// on the device is reported by a later call. NCCL has no tags: between two ranks it matches sends and receives in the
// order in which they are posted, so both sides post in the order of tags.
#include "backend/nccl/nccl_comm.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

namespace kontor::comm::nccl {
namespace {

struct Message {
  void* data;
  std::size_t bytes;
  int peer;
  int tag;
  std::string label; ///< of the View
};

std::vector<Message> messages(const std::vector<Transfer>& transfers) {
  std::vector<Message> result;
  for (const auto& [buffer, order, peer, tag, turn] : transfers) {
    const auto bytes = static_cast<std::size_t>(byte_count(buffer));
    if (bytes > 0) result.push_back({buffer.data, bytes, peer, tag, buffer.label});
  }
  std::ranges::sort(result, {}, [](const Message& m) { return std::tuple(m.peer, m.tag); });
  return result;
}

std::set<int> peers(const std::vector<Message>& messages) {
  std::set<int> result;
  for (const auto& m : messages) result.insert(m.peer);
  return result;
}

class GroupedPlan final : public Plan {
 public:
  GroupedPlan(std::shared_ptr<NcclComm> nccl_comm, const Schedule& schedule, std::shared_ptr<mpi::StartOrder> order)
      : user_(fmt::format("exchange '{}'", schedule.label)), stream_(static_cast<cudaStream_t>(schedule.stream)),
        nccl_comm_(std::move(nccl_comm)), sends_(messages(schedule.sends)), receives_(messages(schedule.receives)),
        order_(std::move(order)), number_(order_->enroll(schedule.label)) {
    nccl_comm_->connect(peers(sends_), peers(receives_), stream_, user_);
    for (const auto& m : sends_) enroll(m);
    for (const auto& m : receives_) enroll(m);
  }

  /// After an error the device may wait for a rank that is gone, and whoever frees memory for the device.
  ~GroupedPlan() override {
    if (nccl_comm_->failed() || (std::uncaught_exceptions() > 0 && query(stream_) != cudaSuccess)) nccl_comm_->abort();
    if (nccl_comm_->aborted()) return;
    static_cast<void>(cudaStreamSynchronize(stream_));
#if NCCL_VERSION_CODE >= NCCL_VERSION(2, 19, 0)
    for (auto* handle : registered_) ncclCommDeregister(nccl_comm_->get(), handle);
#endif
  }

  void start() override {
    poll();
    order_->start(number_, is_captured(stream_));
    auto code = ncclGroupStart();
    if (code != ncclSuccess) nccl_comm_->fail(code, user_ + ": ncclGroupStart");
    for (const auto& m : receives_) {
      code = ncclRecv(m.data, m.bytes, ncclUint8, m.peer, nccl_comm_->get(), stream_);
      if (code != ncclSuccess) [[unlikely]]
        fail_message(code, "ncclRecv from", m);
    }
    for (const auto& m : sends_) {
      code = ncclSend(m.data, m.bytes, ncclUint8, m.peer, nccl_comm_->get(), stream_);
      if (code != ncclSuccess) [[unlikely]]
        fail_message(code, "ncclSend to", m);
    }
    code = ncclGroupEnd();
    if (code != ncclSuccess) nccl_comm_->fail(code, user_ + ": ncclGroupEnd");
  }

  void finish() override { poll(); }
  void poll() override { nccl_comm_->poll(user_); }

 private:
  /// With registered buffers NCCL can copy between GPUs without its own ones in between. It cannot register all memory
  /// there is, and does without.
  void enroll(const Message& m) {
#if NCCL_VERSION_CODE >= NCCL_VERSION(2, 19, 0)
    void* handle = nullptr;
    if (ncclCommRegister(nccl_comm_->get(), m.data, m.bytes, &handle) == ncclSuccess)
      registered_.push_back(handle);
    else
      static_cast<void>(cudaGetLastError()); // or the next launch of a kernel would be blamed
#endif
  }

  [[noreturn]] void fail_message(ncclResult_t code, const char* operation, const Message& m) {
    const auto doing = fmt::format("{}: {} rank {} of View '{}'", user_, operation, m.peer, m.label);
    ncclGroupEnd();
    nccl_comm_->fail(code, doing);
  }

  std::string user_;
  cudaStream_t stream_;
  std::shared_ptr<NcclComm> nccl_comm_;
  std::vector<Message> sends_;
  std::vector<Message> receives_;
  std::vector<void*> registered_;
  std::shared_ptr<mpi::StartOrder> order_;
  std::uint32_t number_; ///< of the plan
};

} // namespace

std::unique_ptr<Plan> make_plan(std::shared_ptr<NcclComm> nccl_comm, const Schedule& schedule,
                                std::shared_ptr<mpi::StartOrder> order) {
  return std::make_unique<GroupedPlan>(std::move(nccl_comm), schedule, std::move(order));
}

} // namespace kontor::comm::nccl
