// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/backend/method.hpp>
#include <kontor/comm/exchange/handshake.hpp>
#include <kontor/comm/options.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

/// How each message of an exchange travels: as it lies, or through the staging buffer.
namespace kontor::comm {

/// A transfer that is packed or unpacked.
struct PackedTransfer {
  std::size_t index;   ///< in the schedule
  Buffer strided;      ///< the caller's
  std::int64_t offset; ///< in the staging buffer, in elements; `in_own_memory` if the backend has the place
};
inline constexpr std::int64_t in_own_memory = -1;

/// What one plan carries, and what is packed for it.
struct RoutedChunk {
  Schedule schedule; ///< those that are packed have null data, and are still to be given a place
  std::vector<PackedTransfer> packed_sends;
  std::vector<PackedTransfer> packed_receives;
};

struct Routing {
  /// One; on path `staged` as many as the largest message of any rank has pieces, so that one piece is copied
  /// between device and host while another is on its way between hosts.
  std::vector<RoutedChunk> chunks;
  std::int64_t staging_elements = 0;
  bool staged = false;          ///< the staging buffer is host memory that the device reaches
  Packing used = Packing::none; ///< what it came to on this rank: kernel, datatype, or none
};

/// Collective: decides by the method's path, packing and backend. Throws UsageError on every rank if they
/// cannot carry a View.
Routing route(const Communicator&, const Method&, const std::string& label, std::span<const Slot>,
              const Agreement&);

/// The shape of a buffer after packing: equal extents, contiguous in wire order.
Shape packed_shape(const Shape&, const WireOrder&);

} // namespace kontor::comm
