// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "grid/halo.hpp"
#include "heat/kernels/plain.hpp"
#include "heat/problem/domain.hpp"
#include "stencil/samples.hpp"

/// Sweeps as a textbook makes them, for comparison with those of a run.
namespace kontor::heat {

/// Collective over the domain's communicator, waits. So many sweeps from the current field, one at a time: by the plain
/// kernel, each after an exchange by the default backend on a communicator of its own.
template <class T>
void sweep_plainly(Domain<T>& domain, std::int64_t sweeps) {
  const comm::Communicator baseline(domain.comm().native(), comm::Options{});
  const auto block = grid::wrapped_by_messages(domain.block(), domain.comm().rank());
  const auto slots = grid::halo_slots(domain.comm(), block, grid::across_faces(block.dimensions));
  std::vector<grid::Halo<T>> halos;
  for (const int which : {0, 1})
    halos.push_back(grid::make_halo(baseline, slots, block, domain.field(which), "heat/plain"));
  const typename FieldView<T>::execution_space space;
  for (std::int64_t sweep = 0; sweep < sweeps; ++sweep) {
    const int from = domain.current();
    if (domain.depends_on_time()) domain.set_time_dependent();
    device::fence(space, "heat/plain sweep");
    halos[from].start();
    halos[from].finish();
    plain_sweep(space, domain.input(from), domain.field(1 - from), block.all(), Norm::none, nullptr);
    device::fence(space, "heat/plain sweep");
    domain.advance();
  }
}

/// Local, waits. A checksum of the current field of this rank.
template <class T>
std::uint64_t digest(const Domain<T>& domain) {
  const auto& block = domain.block();
  return stencil::digest(grid::view_of(domain.field(domain.current()), block, block.all()));
}

} // namespace kontor::heat
