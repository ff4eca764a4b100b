// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "heat/algorithm/persistent_launch.hpp"

#include <kontor/comm/collectives.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace kontor::heat {
namespace {

constexpr int most_norms = 64; ///< of a kernel

std::size_t bytes_of_counters() {
  return static_cast<std::size_t>(2 * BandCounters::stride * most_bands()) * sizeof(device::Counter);
}

} // namespace

template <class T>
std::optional<std::string> PersistentLaunch<T>::refusal(const Domain<T>& domain) {
  const auto& options = domain.options();
  if (!on_device) return "sweeps are made on the host";
  if (options.kernel == SweepKernel::plain) return "solver.kernel is plain, which is launched sweep by sweep";
  if (domain.depends_on_time()) return "the deck's boundary values or source depend on time";
  if (options.sweeps_of_pass() > 1) return "solver.steps_per_pass is not 1";
  for (int axis = 0; axis + 1 < options.dimensions(); ++axis)
    if (options.process_grid[axis] > 1)
      return fmt::format("decomposition.process_grid cuts axis {}; it may cut the last one alone", "xyz"[axis]);
  return comm::PeerMemory<MemorySpace>::refusal(domain.comm());
}

template <class T>
PersistentLaunch<T>::PersistentLaunch(const Domain<T>& domain)
    : domain_(&domain), counters_(domain.comm(), bytes_of_counters(), "heat/counters of bands"),
      parts_("heat/norm parts of bands", most_norms * most_bands()) {
  const auto& block = domain.block();
  const int slow = block.dimensions - 1, rank = domain.comm().rank();
  with_ = {.seams = {},
           .counters = {reinterpret_cast<device::Counter*>(counters_.of(rank))},
           .wait = counters_.wait(),
           .rank = rank,
           .begin = 1,
           .sweeps = 0,
           .norm_every = 0,
           .parts = parts_.data(),
           .wraps = {block.wraps[0] && slow > 0, block.wraps[1] && slow > 1}};
  const auto rows = comm::allgather(domain.comm(), block.extents[slow]);
  const auto bands = comm::allgather(domain.comm(), bands_of<T>(block));
  for (int side = 0; side < 2; ++side) {
    const int other = block.wraps[slow] ? rank : block.neighbours[2 * slow + side];
    if (other == comm::no_rank) continue;
    const auto i = static_cast<std::size_t>(other);
    // Of its upper end for this rank's lower one, and the other way round.
    const BandCounters theirs{reinterpret_cast<device::Counter*>(counters_.of(other))};
    with_.seams[side] = {other, {}, &theirs.of(side == 0 ? bands[i] - 1 : 0, 1 - side)};
    for (const int field : {0, 1}) ghosts_[side][field] = domain.row_of(other, field, side == 0 ? rows[i] : -1);
  }
}

template <class T>
void PersistentLaunch<T>::queue(const ExecutionSpace& instance, int from, int sweeps, Norm norm, int norm_every,
                                const stepping::NormSlots& slots) {
  with_.sweeps = sweeps;
  with_.norm_every = norm_every;
  for (int side = 0; side < 2; ++side)
    for (const int field : {0, 1}) with_.seams[side].ghosts[field] = ghosts_[side][field == 0 ? from : 1 - from];
  const int norms = norm_every > 0 ? sweeps / norm_every : 0;
  const auto kind = norms > 0 ? norm : Norm::none;
  const int parts = sweep_bands(instance, domain_->input(from), domain_->input(1 - from), kind, with_);
  with_.begin += with_.grows();
  if (norms > 0) stepping::combine_each(instance, parts_.data(), norms, parts, norm, slots);
}

template class PersistentLaunch<float>;
template class PersistentLaunch<double>;

} // namespace kontor::heat
