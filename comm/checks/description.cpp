// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "checks/description.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>

namespace kontor::comm::detail {
namespace {

std::string both_ends(const Description& sent, const std::string& how_sent, const Description& received,
                      const std::string& how_received) {
  return fmt::format("rank {} sends {}{}, but rank {} receives {}{}", sent.rank, to_string(sent), how_sent,
                     received.rank, to_string(received), how_received);
}

} // namespace

std::string order_words(const Shape& shape) {
  std::vector<int> dims;
  const auto order = storage_order(shape);
  for (int i = 0; i < shape.rank; ++i)
    if (shape.extents[order.dims[i]] != 1) dims.push_back(order.dims[i]);
  if (dims.size() < 2 || element_count(shape) == 0) return "";
  if (std::ranges::is_sorted(dims)) return " with the last index fastest";
  if (std::ranges::is_sorted(dims, std::greater<>())) return " with the first index fastest";
  return fmt::format(" with indices from slow to fast {}", fmt::join(dims, " "));
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
  return fmt::format("View '{}', {} {}{}", d.label, extents_to_string(d.shape), comm::to_string(d.scalar),
                     d.shape.by_index ? ", rows by index" : "");
}

std::optional<std::string> mismatch(const Description& sent, const Description& received) {
  if (sent.scalar == received.scalar && sent.shape.rank == received.shape.rank &&
      sent.shape.extents == received.shape.extents)
    return std::nullopt;
  return both_ends(sent, "", received, "");
}

std::optional<std::string> difference(const Description& sent, const Description& received) {
  if (auto found = mismatch(sent, received)) return found;
  if (element_count(sent.shape) == 0) return std::nullopt;
  if (storage_order(sent.shape) == storage_order(received.shape)) return std::nullopt;
  return both_ends(sent, order_words(sent.shape), received, order_words(received.shape)) +
         "; an Exchange takes Views of different layouts";
}

} // namespace kontor::comm::detail
