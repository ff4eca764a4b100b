// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "exchange/routing.hpp"

#include <kontor/comm/checks/envelope.hpp>
#include <kontor/comm/mpi_check.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace kontor::comm {
namespace {

/// Messages in staging memory begin on cache lines of their own; Views in a message where any word may.
constexpr std::int64_t message_alignment = 64;
constexpr std::int64_t view_alignment = 16;

/// What travels at a time on path `staged`: long enough to hide the start of a copy, short enough that the first chunk
/// is soon on its way.
constexpr std::int64_t chunk_bytes = 4 << 20;

/// A buffer cut along its slowest dimension on the wire, so that both ends cut at the same elements.
std::vector<Buffer> parts_of(const Buffer& buffer, const WireOrder& order) {
  const auto bytes = byte_count(buffer);
  int slowest = 0;
  while (slowest + 1 < order.rank && buffer.shape.extents[order.dims[slowest]] == 1) ++slowest;
  const int dim = order.dims[slowest];
  const auto extent = buffer.shape.extents[dim];
  if (bytes <= chunk_bytes || order.rank == 0) return {buffer};
  const auto step = std::max<std::int64_t>(1, chunk_bytes / (bytes / extent));
  std::vector<Buffer> result;
  for (std::int64_t first = 0; first < extent; first += step) {
    auto part = buffer;
    part.shape.extents[dim] = std::min(step, extent - first);
    if (buffer.shape.by_index && dim == 0)
      part.rows.indices += first;
    else
      part.data = static_cast<std::byte*>(buffer.data) + first * buffer.shape.strides[dim] * buffer.scalar.size;
    result.push_back(std::move(part));
  }
  return result;
}

/// One direction of a rank's messages.
struct Way {
  const char* preposition; ///< for errors
  std::vector<Transfer> Schedule::*messages;
  RoutedMessages RoutedChunk::*routed;
  Buffer Slot::*view;
  int Slot::*peer;
  std::vector<AgreedMessage> Agreement::*agreed;
  bool OwnMemory::*own;
};
constexpr Way sending{
    "to", &Schedule::sends, &RoutedChunk::sends, &Slot::send, &Slot::destination, &Agreement::sends, &OwnMemory::sends};
constexpr Way receiving{"from",        &Schedule::receives,  &RoutedChunk::receives, &Slot::receive,
                        &Slot::source, &Agreement::receives, &OwnMemory::receives};

class Router {
 public:
  Router(int rank, const Method& method, std::string label)
      : rank_(rank), options_(method.options), backend_(*method.backend), can_(method.can), label_(std::move(label)) {
    routing_.chunks.resize(1);
    routing_.staged = options_.path == Path::staged;
  }

  /// Messages between the same two ranks come in the same order at both ends: that of their tags.
  void add(const Way& way, std::span<const Slot> slots, const Agreement& agreement) {
    const auto& agreed = agreement.*way.agreed;
    std::vector<std::size_t> order(agreed.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, {}, [&](std::size_t k) { return agreed[k].tag; });
    std::erase_if(order, [&](std::size_t k) { return slots[k].*way.peer == no_rank; });

    std::map<int, int> packed_for; // how many messages of each peer are packed at one end at least
    for (const auto k : order)
      if (may_aggregate(agreed[k])) ++packed_for[slots[k].*way.peer];
    for (const auto k : order) {
      const auto& [wire_order, tag, turn, packed] = agreed[k];
      const int peer = slots[k].*way.peer;
      const Transfer transfer{slots[k].*way.view, wire_order, peer, tag, turn};
      check(way, transfer);
      const bool adds = &way == &receiving && slots[k].op == ReceiveOp::add;
      add(way, transfer, may_aggregate(agreed[k]) && packed_for[peer] > 1, adds);
    }
  }

  const std::optional<std::string>& problem() const { return problem_; }

  /// All ranks have equally many chunks, since plans are collective.
  Routing finish(const Communicator& comm) && {
    auto& chunks = routing_.chunks;
    if (routing_.staged) {
      int count = static_cast<int>(chunks.size());
      mpi::check(MPI_Allreduce(MPI_IN_PLACE, &count, 1, MPI_INT, MPI_MAX, comm.native()), "MPI_Allreduce");
      chunks.resize(static_cast<std::size_t>(count));
    }
    for (auto& chunk : chunks) {
      chunk.schedule.label = label_;
      chunk.schedule.pattern = options_.pattern;
      chunk.schedule.packing = options_.packing;
      for (const auto* way : {&sending, &receiving}) give_places(chunk.schedule.*(way->messages), chunk.*(way->routed));
    }
    return std::move(routing_);
  }

 private:
  /// Both ends answer alike.
  bool may_aggregate(const AgreedMessage& agreed) const {
    return options_.packing == Packing::kernel && (routing_.staged || agreed.packed);
  }

  void check(const Way& way, const Transfer& transfer) {
    const auto& buffer = transfer.buffer;
    if (problem_ || is_contiguous(buffer.shape, transfer.order)) return;
    const auto view = [&] {
      return fmt::format("exchange '{}': on rank {}, {}, {} rank {}", label_, rank_, detail::to_string(buffer),
                         way.preposition, transfer.peer);
    };
    if (options_.packing == Packing::none)
      problem_ = view() + " does not lie in one piece in the order of the message, and packing is 'none'; choose "
                          "packing 'kernel', or contiguous Views of equal layout at both ends";
    else if (options_.packing == Packing::datatype && buffer.shape.by_index && !can_.indexed_buffers)
      problem_ = fmt::format("{} goes by index, which backend '{}' does not take as it lies, and packing is "
                             "'datatype'; choose packing 'kernel' or 'auto'",
                             view(), options_.backend);
  }

  void add(const Way& way, const Transfer& transfer, bool aggregate, bool adds) {
    const bool own = backend_.own_memory(transfer.peer, options_.pattern).*way.own;
    const bool contiguous = is_contiguous(transfer.buffer.shape, transfer.order);
    auto& chunks = routing_.chunks;
    if (!contiguous) routing_.used = options_.packing == Packing::datatype ? Packing::datatype : Packing::kernel;
    const bool by_kernel = adds || (!contiguous && options_.packing != Packing::datatype);
    if (!routing_.staged && !own && !by_kernel && !aggregate) {
      (chunks[0].schedule.*way.messages).push_back(transfer);
      (chunks[0].*way.routed).places.push_back(as_it_lies);
      return;
    }
    routing_.used = Packing::kernel;
    const auto parts = routing_.staged ? parts_of(transfer.buffer, transfer.order) : std::vector{transfer.buffer};
    chunks.resize(std::max(chunks.size(), parts.size()));
    for (std::size_t i = 0; i < parts.size(); ++i) {
      auto& messages = chunks[i].schedule.*way.messages;
      auto& routed = chunks[i].*way.routed;
      const auto shared = aggregate ? routed.shared.find(transfer.peer) : routed.shared.end();
      const bool joins = shared != routed.shared.end();
      const auto message = joins ? shared->second : messages.size();
      const auto offset = joins ? append(messages[message], parts[i]) : 0;
      if (!joins) start_message(messages, routed, transfer, parts[i], own);
      if (aggregate) routed.shared.emplace(transfer.peer, message);
      routed.packed.push_back({message, offset, parts[i], transfer.order, adds});
    }
  }

  void start_message(std::vector<Transfer>& messages, RoutedMessages& routed, const Transfer& transfer,
                     const Buffer& view, bool own) const {
    auto& message = messages.emplace_back(transfer);
    message.buffer.data = nullptr;
    message.buffer.rows = {};
    message.buffer.shape = packed_shape(view.shape, transfer.order);
    if (routing_.staged) message.buffer.memory = MemoryKind::host;
    routed.places.push_back(own ? in_own_memory : 0);
  }

  /// The message becomes one of bytes, with the View at its end; returns where that is.
  std::int64_t append(Transfer& message, const Buffer& view) {
    auto& buffer = message.buffer;
    const auto offset = aligned(byte_count(buffer), view_alignment);
    buffer.scalar = {ScalarKind::bytes, 1};
    buffer.shape = {1, {offset + byte_count(view), 1, 1, 1, 1, 1, 1, 1}, {1}};
    buffer.label += "', '" + view.label;
    message.order = storage_order(buffer.shape);
    return offset;
  }

  void give_places(const std::vector<Transfer>& messages, RoutedMessages& routed) {
    for (std::size_t m = 0; m < messages.size(); ++m) {
      if (routed.places[m] != 0) continue;
      routed.places[m] = routing_.staging_bytes;
      routing_.staging_bytes += aligned(byte_count(messages[m].buffer), message_alignment);
    }
  }

  int rank_;
  const Options& options_;
  const Backend& backend_;
  const Capabilities& can_;
  std::string label_;
  std::optional<std::string> problem_;
  Routing routing_;
};

} // namespace

Routing route(const Communicator& comm, const Method& method, const std::string& label, std::span<const Slot> slots,
              const Agreement& agreement) {
  Router router(comm.rank(), method, label);
  router.add(receiving, slots, agreement);
  router.add(sending, slots, agreement);
  auto problem = router.problem();
  if (problem) problem = errors::with_id(std::move(*problem), "E-COMM-BACKEND");
  try {
    comm.agree(problem);
  } catch (const AgreedError& error) {
    throw UsageError(error.what(), Axis::packing);
  }
  return std::move(router).finish(comm);
}

} // namespace kontor::comm
