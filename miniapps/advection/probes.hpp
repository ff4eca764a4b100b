// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "grid/axis_parts.hpp"
#include "grid/field.hpp"
#include "random/counter_random.hpp"

#include <kontor/comm/communicator.hpp>
#include <kontor/comm/exchange.hpp>
#include <kontor/comm/with_counts.hpp>

#include <Kokkos_Core.hpp>

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

/// Cells anywhere that a rank wants to see the values of, whoever owns them.
namespace kontor::advection {

/// Local. So many cells of a ring, the same on every machine for the same seed and rank; some may be equal.
inline std::vector<std::int64_t> random_cells(std::int64_t count, std::int64_t cells, std::int64_t seed, int rank) {
  std::vector<std::int64_t> chosen(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i)
    chosen[static_cast<std::size_t>(i)] = static_cast<std::int64_t>(
        random::bits_at(static_cast<std::uint64_t>(seed), rank, i) % static_cast<std::uint64_t>(cells));
  return chosen;
}

using Gathering = comm::Exchange<grid::FieldView<double>>;

/// Collective over `ring`, whose ranks have the cells in their order. The exchanges, committed, that bring the values
/// of either field into `values`, in the order of this rank's `wanted` cells, which may be any.
inline std::array<Gathering, 2> make_gatherings(const comm::Communicator& ring, const grid::Block& block,
                                                const std::vector<std::int64_t>& wanted,
                                                const std::array<grid::FieldView<double>, 2>& fields,
                                                const Kokkos::View<double*>& values) {
  using Rows = Kokkos::View<std::int64_t*, Kokkos::HostSpace>;
  const Rows cells("advection/wanted", wanted.size()); // as their owners number them
  const Rows places("advection/places", wanted.size());
  std::vector<std::int64_t> counts, begins{0}; // by owner
  for (int owner = 0; owner < ring.size(); ++owner) {
    const auto part = grid::part_of_axis(block.global[0], ring.size(), owner);
    auto n = begins.back();
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      if (wanted[i] < part.begin || wanted[i] >= part.end) continue;
      cells(n) = wanted[i] - part.begin;
      places(n++) = static_cast<std::int64_t>(i);
    }
    counts.push_back(n - begins.back());
    begins.push_back(n);
  }
  const auto asked = comm::alltoallv_with_counts(ring, cells, counts);
  std::array gatherings{Gathering(ring, "probes"), Gathering(ring, "probes")};
  const auto first = grid::padding<double>(block)[0];
  for (std::size_t f = 0; f < fields.size(); ++f) {
    const auto own = Kokkos::subview(fields[f], 0, 0, std::pair(first, first + block.extents[0]));
    for (int rank = 0; rank < ring.size(); ++rank) {
      const std::pair from(asked.offsets[rank], asked.offsets[rank + 1]), to(begins[rank], begins[rank + 1]);
      gatherings[f].add_send(own, Kokkos::subview(asked.data, from), rank);
      gatherings[f].add_receive(values, Kokkos::subview(places, to), rank);
    }
    gatherings[f].commit();
  }
  return gatherings;
}

} // namespace kontor::advection
