// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/communicator.hpp>
#include <kontor/comm/with_counts.hpp>

#include <Kokkos_Core.hpp>
#include <nlohmann/json.hpp>

#include <string>
#include <vector>

/// What only rank 0 needs, without a byte of it on the other ranks.
namespace kontor::miniapp {

/// Collective; valid at rank 0, empty elsewhere. The text of each rank.
inline std::vector<std::string> gather_texts(const comm::Communicator& comm, const std::string& mine) {
  using Unmanaged = Kokkos::MemoryTraits<Kokkos::Unmanaged>;
  const Kokkos::View<const char*, Kokkos::HostSpace, Unmanaged> view(mine.data(), mine.size());
  const auto all = comm::gatherv_with_counts(comm, view, 0);
  std::vector<std::string> texts;
  for (int r = 0; r + 1 < static_cast<int>(all.offsets.size()); ++r)
    texts.emplace_back(all.part(r).data(), all.part(r).size());
  return texts;
}

/// Collective; valid at rank 0, an empty array elsewhere. The rows of each rank's table, an array, in the order of
/// ranks.
inline nlohmann::ordered_json gather_rows(const comm::Communicator& comm, const nlohmann::ordered_json& mine) {
  std::string bytes; // numbers exact, texts of any bytes
  nlohmann::ordered_json::to_cbor(mine, bytes);
  auto table = nlohmann::ordered_json::array();
  for (const auto& part : gather_texts(comm, bytes))
    for (auto& row : nlohmann::ordered_json::from_cbor(part)) table.push_back(std::move(row));
  return table;
}

} // namespace kontor::miniapp
