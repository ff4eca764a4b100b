// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <kontor/comm/exchange/routing.hpp>
#include <kontor/comm/mpi_check.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <optional>

namespace kontor::comm {
namespace {

/// Packed pieces begin on cache lines of their own.
constexpr std::int64_t alignment_bytes = 64;

/// What travels at a time on path `staged`: long enough to hide the start of a copy, short enough that the
/// first piece is soon on its way.
constexpr std::int64_t piece_bytes = 4 << 20;

/// A buffer cut along its slowest dimension on the wire, so that both ends cut at the same elements.
std::vector<Buffer> pieces(const Buffer& buffer, const WireOrder& order) {
  const auto bytes = element_count(buffer.shape) * buffer.scalar.size;
  int slowest = 0;
  while (slowest + 1 < order.rank && buffer.shape.extents[order.dims[slowest]] == 1) ++slowest;
  const int dim = order.dims[slowest];
  const auto extent = buffer.shape.extents[dim];
  if (bytes <= piece_bytes || order.rank == 0) return {buffer};
  const auto step = std::max<std::int64_t>(1, piece_bytes / (bytes / extent));
  std::vector<Buffer> result;
  for (std::int64_t first = 0; first < extent; first += step) {
    auto piece = buffer;
    piece.shape.extents[dim] = std::min(step, extent - first);
    if (buffer.shape.by_index && dim == 0)
      piece.rows.indices += first;
    else
      piece.data =
          static_cast<std::byte*>(buffer.data) + first * buffer.shape.strides[dim] * buffer.scalar.size;
    result.push_back(std::move(piece));
  }
  return result;
}

class Router {
 public:
  Router(const Communicator& comm, const Method& method, std::string label)
      : rank_(comm.rank()), options_(method.options), backend_(*method.backend), can_(method.can),
        label_(std::move(label)), staged_(options_.path == Path::staged), chunks_(1) {}

  void add_send(const Transfer& transfer) {
    check("to", transfer);
    const bool own = backend_.own_memory(transfer.peer, options_.pattern).sends;
    add(&Schedule::sends, &RoutedChunk::packed_sends, own, transfer);
  }
  void add_receive(const Transfer& transfer) {
    check("from", transfer);
    const bool own = backend_.own_memory(transfer.peer, options_.pattern).receives;
    add(&Schedule::receives, &RoutedChunk::packed_receives, own, transfer);
  }

  const std::optional<std::string>& problem() const { return problem_; }

  /// All ranks have equally many chunks, since plans are collective.
  Routing finish(const Communicator& comm) && {
    if (staged_) {
      int count = static_cast<int>(chunks_.size());
      mpi::check(MPI_Allreduce(MPI_IN_PLACE, &count, 1, MPI_INT, MPI_MAX, comm.native()), "MPI_Allreduce");
      chunks_.resize(static_cast<std::size_t>(count));
    }
    for (auto& chunk : chunks_) {
      chunk.schedule.label = label_;
      chunk.schedule.pattern = options_.pattern;
      chunk.schedule.packing = options_.packing;
    }
    return {std::move(chunks_), staging_elements_, staged_, used_};
  }

 private:
  void check(const char* method, const Transfer& transfer) {
    const auto& buffer = transfer.buffer;
    if (problem_ || is_contiguous(buffer.shape, transfer.order)) return;
    const auto view = [&] {
      return fmt::format("exchange '{}': on rank {}, View '{}', {} {}, {} rank {}", label_, rank_,
                         buffer.label, extents_to_string(buffer.shape), to_string(buffer.scalar), method,
                         transfer.peer);
    };
    if (options_.packing == Packing::none)
      problem_ = view() +
                 " does not lie in one piece in the order of the message, and packing is 'none'; choose "
                 "packing 'kernel', or contiguous Views of equal layout at both ends";
    else if (options_.packing == Packing::datatype && buffer.shape.by_index && !can_.indexed_buffers)
      problem_ = fmt::format("{} goes by index, which backend '{}' does not take as it lies, and packing is "
                             "'datatype'; choose packing 'kernel' or 'auto'",
                             view(), options_.backend);
  }

  void add(std::vector<Transfer> Schedule::*transfers, std::vector<PackedTransfer> RoutedChunk::*packed,
           bool own_memory, const Transfer& transfer) {
    const bool contiguous = is_contiguous(transfer.buffer.shape, transfer.order);
    if (!contiguous) used_ = options_.packing == Packing::datatype ? Packing::datatype : Packing::kernel;
    const bool by_kernel = !contiguous && options_.packing != Packing::datatype;
    if (!staged_ && !own_memory && !by_kernel) {
      (chunks_[0].schedule.*transfers).push_back(transfer);
      return;
    }
    used_ = Packing::kernel;
    const auto parts = staged_ ? pieces(transfer.buffer, transfer.order) : std::vector{transfer.buffer};
    chunks_.resize(std::max(chunks_.size(), parts.size()));
    for (std::size_t i = 0; i < parts.size(); ++i) {
      auto& list = chunks_[i].schedule.*transfers;
      (chunks_[i].*packed).push_back({list.size(), parts[i], own_memory ? in_own_memory : stage(parts[i])});
      auto message = transfer;
      message.buffer.data = nullptr;
      message.buffer.rows = {};
      message.buffer.shape = packed_shape(parts[i].shape, transfer.order);
      if (staged_) message.buffer.memory = MemoryKind::host;
      list.push_back(std::move(message));
    }
  }

  std::int64_t stage(const Buffer& buffer) {
    const auto place = staging_elements_;
    const auto align = std::max<std::int64_t>(1, alignment_bytes / buffer.scalar.size);
    staging_elements_ += (element_count(buffer.shape) + align - 1) / align * align;
    return place;
  }

  int rank_;
  const Options& options_;
  const Backend& backend_;
  const Capabilities& can_;
  std::string label_;
  bool staged_;
  std::optional<std::string> problem_;
  std::vector<RoutedChunk> chunks_;
  std::int64_t staging_elements_ = 0;
  Packing used_ = Packing::none;
};

/// So messages between the same two ranks are in the same order at both ends.
std::vector<std::size_t> in_order_of_tags(const std::vector<AgreedMessage>& messages) {
  std::vector<std::size_t> slots(messages.size());
  std::iota(slots.begin(), slots.end(), std::size_t{0});
  std::ranges::stable_sort(slots, {}, [&](std::size_t k) { return messages[k].tag; });
  return slots;
}

} // namespace

Routing route(const Communicator& comm, const Method& method, const std::string& label,
              std::span<const Slot> slots, const Agreement& agreement) {
  Router router(comm, method, label);
  for (const auto k : in_order_of_tags(agreement.receives)) {
    const auto& [order, tag, turn] = agreement.receives[k];
    if (slots[k].source != no_rank) router.add_receive({slots[k].receive, order, slots[k].source, tag, turn});
  }
  for (const auto k : in_order_of_tags(agreement.sends)) {
    const auto& [order, tag, turn] = agreement.sends[k];
    if (slots[k].destination != no_rank)
      router.add_send({slots[k].send, order, slots[k].destination, tag, turn});
  }
  try {
    comm.agree(router.problem());
  } catch (const AgreedError& error) {
    throw UsageError(error.what(), Axis::packing);
  }
  return std::move(router).finish(comm);
}

Shape packed_shape(const Shape& shape, const WireOrder& order) {
  Shape packed = shape;
  packed.by_index = false;
  std::int64_t stride = 1;
  for (int i = order.rank - 1; i >= 0; --i) {
    packed.strides[order.dims[i]] = stride;
    stride *= shape.extents[order.dims[i]];
  }
  return packed;
}

} // namespace kontor::comm
