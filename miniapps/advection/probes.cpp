// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "advection/probes.hpp"

#include "grid/axis_parts.hpp"
#include "random/counter_random.hpp"

#include <kontor/comm/with_counts.hpp>

#include <utility>

namespace kontor::advection {

std::vector<std::int64_t> random_cells(std::int64_t count, std::int64_t cells, std::int64_t seed, int rank) {
  std::vector<std::int64_t> chosen(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i)
    chosen[static_cast<std::size_t>(i)] = static_cast<std::int64_t>(
        random::bits_at(static_cast<std::uint64_t>(seed), rank, i) % static_cast<std::uint64_t>(cells));
  return chosen;
}

Probes::Probes(const comm::Communicator& ring, const grid::Block& block,
               const std::vector<std::int64_t>& wanted)
    : places_("advection/places", wanted.size()), places_offsets_{0} {
  const Rows cells("advection/wanted", wanted.size()); // as their owners number them
  std::vector<std::int64_t> counts;
  std::int64_t n = 0;
  for (int owner = 0; owner < ring.size(); ++owner) {
    const auto part = grid::part_of_axis(block.global[0], ring.size(), owner);
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      if (wanted[i] < part.begin || wanted[i] >= part.end) continue;
      cells(n) = wanted[i] - part.begin;
      places_(n++) = static_cast<std::int64_t>(i);
    }
    counts.push_back(n - places_offsets_.back());
    places_offsets_.push_back(n);
  }
  auto asked = comm::alltoallv_with_counts(ring, cells, counts);
  asked_ = asked.data;
  asked_offsets_ = std::move(asked.offsets);
}

Gathering Probes::gathering(const comm::Communicator& ring, const grid::Block& block,
                            const grid::FieldView<double>& field, const Kokkos::View<double*>& values) const {
  const auto first = grid::padding<double>(block)[0];
  const auto own = Kokkos::subview(field, 0, 0, std::pair(first, first + block.extents[0]));
  const auto part = [](const Rows& rows, const std::vector<std::int64_t>& offsets, int rank) {
    return Kokkos::subview(rows, std::pair(offsets[rank], offsets[rank + 1]));
  };
  Gathering gathering(ring, "probes");
  for (int rank = 0; rank < ring.size(); ++rank) {
    gathering.add_send(own, part(asked_, asked_offsets_, rank), rank);
    gathering.add_receive(values, part(places_, places_offsets_, rank), rank);
  }
  gathering.commit();
  return gathering;
}

} // namespace kontor::advection
