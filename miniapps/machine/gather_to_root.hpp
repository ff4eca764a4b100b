// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/communicator.hpp>
#include <kontor/comm/gather.hpp>

#include <Kokkos_Core.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

/// What only rank 0 needs, without a byte of it on the other ranks.
namespace kontor::miniapp {

/// Collective; valid at rank 0, empty elsewhere. The elements of all ranks, in the order of ranks; each may give any
/// number. `counts`, if given, becomes how many each rank gave.
template <class T>
std::vector<T> gather_to_root(const comm::Communicator& comm, std::span<const T> mine,
                              std::vector<std::int64_t>* counts = nullptr) {
  using Unmanaged = Kokkos::MemoryTraits<Kokkos::Unmanaged>;
  const std::size_t ranks = comm.rank() == 0 ? static_cast<std::size_t>(comm.size()) : 0;
  const auto count = static_cast<std::int64_t>(mine.size());
  std::vector<std::int64_t> of_ranks(ranks);
  using Counts = Kokkos::View<std::int64_t*, Kokkos::HostSpace, Unmanaged>;
  comm::gather(comm, Kokkos::View<const std::int64_t*, Kokkos::HostSpace, Unmanaged>(&count, 1),
               Counts(of_ranks.data(), ranks), 0);
  const comm::Counts numbers(of_ranks);
  std::vector<T> all(static_cast<std::size_t>(numbers.total()));
  comm::gatherv(comm, Kokkos::View<const T*, Kokkos::HostSpace, Unmanaged>(mine.data(), mine.size()),
                Kokkos::View<T*, Kokkos::HostSpace, Unmanaged>(all.data(), all.size()), numbers, 0);
  if (counts) *counts = std::move(of_ranks);
  return all;
}

/// Collective; valid at rank 0, empty elsewhere. One value of each rank.
template <class T>
std::vector<T> gather_to_root(const comm::Communicator& comm, const T& mine) {
  return gather_to_root(comm, std::span<const T>(&mine, 1));
}

/// Local. The characters of a text as a View, valid as long as the text is.
inline auto text_view(const std::string& text) {
  using Unmanaged = Kokkos::MemoryTraits<Kokkos::Unmanaged>;
  return Kokkos::View<const char*, Kokkos::HostSpace, Unmanaged>(text.data(), text.size());
}

/// Collective; valid at rank 0, empty elsewhere. The text of each rank.
inline std::vector<std::string> gather_texts(const comm::Communicator& comm, const std::string& mine) {
  std::vector<std::int64_t> lengths;
  const auto all = gather_to_root(comm, std::span<const char>(mine), &lengths);
  std::vector<std::string> texts;
  auto next = all.begin();
  for (const auto length : lengths) {
    texts.emplace_back(next, next + length);
    next += length;
  }
  return texts;
}

} // namespace kontor::miniapp
