// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/views/layout.hpp>

#include <optional>

/// What one end of a message tells the other: at check level `cross_rank`, and in the handshake of an exchange.
namespace kontor::comm::detail {

/// One end of a message, as it travels from rank to rank.
struct Description {
  static constexpr std::uint32_t sign = 0x4B6F6E74;
  std::uint32_t signature = sign;
  std::int32_t rank = 0;   ///< whose end it is
  std::int32_t tag = 0;    ///< of the message, or its number in an exchange
  std::int64_t number = 0; ///< of the message among those of its sender; its answer has it too
  Scalar scalar;
  Shape shape;
  bool by_pair = false;  ///< in an exchange: how it is numbered
  bool receives = false; ///< in an exchange: whether it is the end that receives
  bool adds = false;     ///< in an exchange: whether that end adds what arrives
  char label[64] = {};
};

Description describe(int rank, int tag, const Buffer&);

/// "View 'u', (4, 5) double"
std::string to_string(const Description&);

/// The same of a View that packing 'none' does not take, and why.
std::string strided_words(const Buffer&);

/// How the elements lie, where that can be said in several ways: " with the last index fastest".
std::string order_words(const Shape&);

/// On what the two ends of a message differ in scalar or extents, both of them named; nothing if they fit.
std::optional<std::string> mismatch(const Description& sent, const Description& received);

/// The same, where equal layouts are needed too.
std::optional<std::string> difference(const Description& sent, const Description& received);

} // namespace kontor::comm::detail
