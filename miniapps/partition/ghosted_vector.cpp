// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "partition/ghosted_vector.hpp"

#include "machine/first_touch.hpp"
#include "machine/huge_pages.hpp"

#include <utility>

namespace kontor::partition {

GhostedVector::GhostedVector(const comm::Communicator& comm, const Partition& partition, const std::string& label,
                             const Space& instance, const Vector& own_and_ghosts)
    : all_(own_and_ghosts.data() != nullptr
               ? own_and_ghosts
               : Vector(miniapp::zeroed<double>(label, static_cast<std::size_t>(partition.own) +
                                                           static_cast<std::size_t>(partition.ghosts)))),
      own_(Kokkos::subview(all_, std::pair<LocalIndex, LocalIndex>(0, partition.own))),
      exchange_(comm, "ghosts of " + label, instance) {
  if (own_and_ghosts.data() == nullptr) miniapp::use_huge_pages(all_); // the product reads it here and there
  for (const auto& neighbour : partition.neighbours) {
    if (neighbour.sent.extent(0) > 0) exchange_.add_send(own_, neighbour.sent, neighbour.rank);
    if (neighbour.ghosts > 0)
      exchange_.add_receive(all_, std::pair(neighbour.first_ghost, neighbour.first_ghost + neighbour.ghosts),
                            neighbour.rank);
  }
  exchange_.commit();
  exchange_.measure_times();
}

} // namespace kontor::partition
