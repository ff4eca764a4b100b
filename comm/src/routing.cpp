// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <kontor/comm/routing.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace kontor::comm {
namespace {

/// Packed pieces begin on cache lines of their own.
constexpr std::int64_t alignment_bytes = 64;

class Router {
 public:
  Router(const Communicator& comm, const Way& way, std::string label)
      : rank_(comm.rank()), options_(way.options), backend_(*way.backend), label_(std::move(label)) {}

  void add_send(Routing& routing, std::size_t slot, Transfer transfer) {
    const bool own = backend_.own_memory(transfer.peer).sends;
    add(routing.schedule.sends, routing.packed_sends, own, slot, "to", std::move(transfer));
  }
  void add_receive(Routing& routing, std::size_t slot, Transfer transfer) {
    const bool own = backend_.own_memory(transfer.peer).receives;
    add(routing.schedule.receives, routing.packed_receives, own, slot, "from", std::move(transfer));
  }

  const std::optional<std::string>& problem() const { return problem_; }
  std::int64_t staging_elements() const { return staging_elements_; }
  Packing used() const { return used_; }

 private:
  void add(std::vector<Transfer>& transfers, std::vector<PackedTransfer>& packed, bool own_memory,
           std::size_t slot, const char* way, Transfer transfer) {
    auto& buffer = transfer.buffer;
    if (buffer.memory == MemoryKind::device && !backend_.capabilities().device_buffers)
      refuse(slot, way, transfer,
             fmt::format("lies in device memory, which backend '{}' does not take", options_.backend));
    const bool contiguous = is_contiguous(buffer.shape, transfer.order);
    if (!contiguous && options_.packing == Packing::none)
      refuse(slot, way, transfer,
             "does not lie in one piece in the order of the message, and packing is 'none'; choose packing "
             "'kernel', or contiguous Views of equal layout at both ends");
    if (own_memory || (!contiguous && options_.packing != Packing::datatype)) {
      packed.push_back({transfers.size(), buffer, own_memory ? in_own_memory : stage(buffer)});
      buffer.data = nullptr;
      buffer.shape = packed_shape(buffer.shape, transfer.order);
    }
    if (!contiguous) used_ = options_.packing == Packing::datatype ? Packing::datatype : Packing::kernel;
    if (own_memory) used_ = Packing::kernel;
    transfers.push_back(std::move(transfer));
  }

  std::int64_t stage(const Buffer& buffer) {
    const auto place = staging_elements_;
    const auto align = std::max<std::int64_t>(1, alignment_bytes / buffer.scalar.size);
    staging_elements_ += (element_count(buffer.shape) + align - 1) / align * align;
    return place;
  }

  void refuse(std::size_t slot, const char* way, const Transfer& transfer, const std::string& why) {
    if (problem_) return;
    const auto& buffer = transfer.buffer;
    problem_ = fmt::format("exchange '{}', slot {}: on rank {}, View '{}', {} {}, {} rank {} {}", label_,
                           slot, rank_, buffer.label, extents_to_string(buffer.shape),
                           to_string(buffer.scalar), way, transfer.peer, why);
  }

  int rank_;
  const Options& options_;
  const Backend& backend_;
  std::string label_;
  std::optional<std::string> problem_;
  std::int64_t staging_elements_ = 0;
  Packing used_ = Packing::none;
};

} // namespace

Routing route(const Communicator& comm, const Way& way, const std::string& label, std::span<const Slot> slots,
              const Agreement& agreement) {
  Routing routing;
  routing.schedule.label = label;
  Router router(comm, way, label);
  for (std::size_t k = 0; k < slots.size(); ++k) {
    const auto& slot = slots[k];
    const int tag = agreement.first_tag + static_cast<int>(k);
    if (slot.source != no_rank)
      router.add_receive(routing, k, {slot.receive, agreement.receive_orders[k], slot.source, tag});
    if (slot.destination != no_rank)
      router.add_send(routing, k, {slot.send, agreement.send_orders[k], slot.destination, tag});
  }
  try {
    comm.agree(router.problem());
  } catch (const AgreedError& error) {
    throw UsageError(error.what());
  }
  routing.staging_elements = router.staging_elements();
  routing.used = router.used();
  return routing;
}

Shape packed_shape(const Shape& shape, const WireOrder& order) {
  Shape packed = shape;
  std::int64_t stride = 1;
  for (int i = order.rank - 1; i >= 0; --i) {
    packed.strides[order.dims[i]] = stride;
    stride *= shape.extents[order.dims[i]];
  }
  return packed;
}

} // namespace kontor::comm
