// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/handshake.hpp>
#include <kontor/comm/options.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

/// How each message of an exchange travels: as it lies, or through the staging buffer.
namespace kontor::comm {

/// A transfer that is packed or unpacked, and its place in the staging buffer, in elements.
struct PackedTransfer {
  std::size_t index;
  std::int64_t offset;
};

struct Routing {
  Schedule schedule; ///< with the caller's buffers; those that are packed are still to be redirected
  std::vector<PackedTransfer> packed_sends;
  std::vector<PackedTransfer> packed_receives;
  std::int64_t staging_elements = 0;
  Packing used = Packing::none; ///< what it came to on this rank: kernel, datatype, or none
};

/// Collective: makes the handshake and decides by the communicator's packing. Throws on every rank
/// AgreedError (see handshake()), or UsageError if the packing or the backend cannot carry a View.
Routing route(const Communicator&, const std::string& label, std::span<const Slot>);

/// The shape of a buffer after packing: equal extents, contiguous in wire order.
Shape packed_shape(const Shape&, const WireOrder&);

} // namespace kontor::comm
