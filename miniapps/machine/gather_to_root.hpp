// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/communicator.hpp>
#include <kontor/comm/with_counts.hpp>

#include <Kokkos_Core.hpp>
#include <nlohmann/json.hpp>

#include <cstdint>
#include <utility>

/// What only rank 0 needs, without a byte of it on the other ranks.
namespace kontor::miniapp {

/// Collective; valid at rank 0, an empty array elsewhere. The rows of each rank's table, an array, in the order of
/// ranks.
inline nlohmann::ordered_json gather_rows(const comm::Communicator& comm, const nlohmann::ordered_json& mine) {
  using Bytes = Kokkos::View<const std::uint8_t*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  const auto bytes = nlohmann::ordered_json::to_cbor(mine); // numbers exact, texts of any bytes
  const auto all = comm::gatherv_with_counts(comm, Bytes(bytes.data(), bytes.size()), 0);
  auto table = nlohmann::ordered_json::array();
  for (int r = 0; r + 1 < static_cast<int>(all.offsets.size()); ++r) {
    const auto part = all.part(r);
    for (auto& row : nlohmann::ordered_json::from_cbor(part.data(), part.data() + part.size()))
      table.push_back(std::move(row));
  }
  return table;
}

} // namespace kontor::miniapp
