// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "checks/description.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <span>

namespace kontor::comm::detail {
namespace {

std::string extents_text(const Shape& shape) {
  std::vector<std::string> extents;
  for (const auto extent : std::span(shape.extents).first(shape.rank))
    extents.push_back(extent < 0 ? "any" : fmt::format("{}", extent));
  return fmt::format("({})", fmt::join(extents, ", "));
}

std::string order_text(const Shape& shape) {
  const auto order = storage_order(shape);
  return fmt::format(", which lies in the order of dimensions ({}), slowest first",
                     fmt::join(std::span(order.dims).first(order.rank), ", "));
}

std::string both_ends(const Description& sent, const std::string& how_sent, const Description& received,
                      const std::string& how_received) {
  return fmt::format("rank {} sends {}{}, but rank {} receives {}{}", sent.rank, to_string(sent), how_sent,
                     received.rank, to_string(received), how_received);
}

} // namespace

bool fit(const Shape& sent, const Shape& received) {
  return sent.rank == received.rank &&
         std::equal(sent.extents.begin(), sent.extents.end(), received.extents.begin(),
                    [](auto extent, auto expected) { return expected == -1 || extent == expected; });
}

Description describe(int rank, int tag, const Buffer& buffer) {
  Description d;
  d.rank = rank;
  d.tag = tag;
  d.scalar = buffer.scalar;
  d.shape = buffer.shape;
  buffer.label.copy(d.label, sizeof(d.label) - 1);
  return d;
}

std::string to_string(const Description& d) {
  return fmt::format("View '{}', {} {}{}{}", d.label, extents_text(d.shape), comm::to_string(d.scalar),
                     d.shape.by_index ? ", rows by index" : "", d.announces ? ", with its extents" : "");
}

std::optional<std::string> mismatch(const Description& sent, const Description& received) {
  if (sent.announces == received.announces && sent.scalar == received.scalar && fit(sent.shape, received.shape))
    return std::nullopt;
  return both_ends(sent, "", received, "");
}

std::optional<std::string> difference(const Description& sent, const Description& received) {
  if (auto found = mismatch(sent, received)) return found;
  if (sent.announces || element_count(sent.shape) == 0) return std::nullopt;
  if (storage_order(sent.shape) == storage_order(received.shape)) return std::nullopt;
  return both_ends(sent, order_text(sent.shape), received, order_text(received.shape)) +
         "; an Exchange, or send_with_extents and recv_with_extents, take Views of different layouts";
}

} // namespace kontor::comm::detail
