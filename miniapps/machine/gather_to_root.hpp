// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/communicator.hpp>
#include <kontor/comm/with_counts.hpp>

#include <Kokkos_Core.hpp>

#include <span>
#include <string>
#include <vector>

/// What only rank 0 needs, without a byte of it on the other ranks.
namespace kontor::miniapp {

/// Collective; valid at rank 0, empty elsewhere. The elements of all ranks, in the order of ranks; each may give any
/// number.
template <class T>
std::vector<T> gather_to_root(const comm::Communicator& comm, std::span<const T> mine) {
  using View = Kokkos::View<const T*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  const auto all = comm::gatherv_with_counts(comm, View(mine.data(), mine.size()), 0);
  return {all.data.data(), all.data.data() + all.data.size()};
}

/// Local. The characters of a text as a View, valid as long as the text is.
inline auto text_view(const std::string& text) {
  using Unmanaged = Kokkos::MemoryTraits<Kokkos::Unmanaged>;
  return Kokkos::View<const char*, Kokkos::HostSpace, Unmanaged>(text.data(), text.size());
}

/// Collective; valid at rank 0, empty elsewhere. The text of each rank.
inline std::vector<std::string> gather_texts(const comm::Communicator& comm, const std::string& mine) {
  const auto all = comm::gatherv_with_counts(comm, text_view(mine), 0);
  std::vector<std::string> texts;
  for (int r = 0; r + 1 < static_cast<int>(all.offsets.size()); ++r)
    texts.emplace_back(all.part(r).data(), all.part(r).size());
  return texts;
}

} // namespace kontor::miniapp
