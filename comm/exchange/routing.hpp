// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/backend/method.hpp>
#include <kontor/comm/exchange/handshake.hpp>

#include <map>

/// How each View of an exchange travels: as it lies, or packed by the kernel, alone or with others.
namespace kontor::comm {

/// A View that is packed or unpacked, and its place in a message.
struct PackedView {
  std::size_t message;     ///< in the schedule
  std::int64_t offset = 0; ///< in the message, in bytes
  Buffer view;             ///< the caller's, or a part of it
  WireOrder order;         ///< of its elements in the message
  bool adds = false;       ///< what arrives is added
};

/// Where a message lies.
inline constexpr std::int64_t in_own_memory = -1; ///< in memory of the backend's own
inline constexpr std::int64_t as_it_lies = -2;    ///< in the caller's View

/// The messages of a rank in one direction, beside those of the schedule.
struct RoutedMessages {
  std::vector<PackedView> packed;
  std::map<int, std::size_t> shared; ///< of each peer: the message for several Views
  std::vector<std::int64_t> places;  ///< of each message: bytes from the beginning of the staging memory, or as above
};

/// What one plan carries.
struct RoutedChunk {
  Schedule schedule; ///< packed messages have null data, and are still to be given a place
  RoutedMessages sends;
  RoutedMessages receives;
};

struct Routing {
  /// One; on path `staged` as many as the longest View of any rank has pieces, so that one piece is copied between
  /// device and host while another is on its way between hosts.
  std::vector<RoutedChunk> chunks;
  std::int64_t staging_bytes = 0;
  bool staged = false;          ///< the staging memory is host memory that the device reaches
  Packing used = Packing::none; ///< what it came to on this rank: kernel, datatype, or none
};

/// Collective. Decides by the method's path, packing and backend. Throws UsageError on every rank if they
/// cannot carry a View.
Routing route(const Communicator&, const Method&, const std::string& label, std::span<const Slot>, const Agreement&);

} // namespace kontor::comm
