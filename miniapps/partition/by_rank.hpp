// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/sparse_exchange.hpp>

#include <cstring>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace kontor::partition {

/// Items for other ranks, or from them. `Item` is trivially copyable.
template <class Item>
using ByRank = std::map<int, std::vector<Item>>;

/// Collective. Sends each list to its rank and returns those that other ranks send to this one, as
/// comm::sparse_exchange() does, whose `label` it is. No list is empty.
template <class Item>
ByRank<Item> exchange_by_rank(const comm::Communicator& comm, const std::string& label, const ByRank<Item>& sent) {
  std::vector<comm::PeerMessage> messages;
  for (const auto& [rank, items] : sent) {
    const auto bytes = std::as_bytes(std::span(items));
    messages.push_back({rank, {bytes.begin(), bytes.end()}});
  }
  ByRank<Item> received;
  for (const auto& [rank, bytes] : comm::sparse_exchange(comm, label, std::move(messages))) {
    auto& items = received[rank];
    items.resize(bytes.size() / sizeof(Item));
    std::memcpy(items.data(), bytes.data(), bytes.size());
  }
  return received;
}

} // namespace kontor::partition
