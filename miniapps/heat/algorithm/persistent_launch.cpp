// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "heat/algorithm/persistent_launch.hpp"

#include <kontor/comm/collectives.hpp>

#include <fmt/format.h>

namespace kontor::heat {
namespace {

constexpr int most_norms = 64; ///< of a kernel

constexpr std::size_t line = 64;

std::size_t bytes_of_counters() {
  return static_cast<std::size_t>(2 * BandCounters::stride * device::resident_teams()) * sizeof(device::Counter);
}

/// Words of a row (plane); ranks that are cut along the slowest axis have equally many.
template <class T>
std::int64_t words_of_row(const Block& block) {
  constexpr std::int64_t together = 4; // cells of a thread, at most
  const auto lines = block.dimensions == 3 ? block.extents[1] : 1;
  return (block.extents[0] + together - 1) / together * together * lines * static_cast<std::int64_t>(sizeof(T) / 4);
}
/// Of the two rows in turn that come from one side.
template <class T>
std::size_t bytes_of_words(const Block& block) {
  return (static_cast<std::size_t>(2 * words_of_row<T>(block)) * sizeof(Word) + line - 1) / line * line;
}

/// Collective. The shape of bands in registers, if all ranks have one.
template <class T>
RegisterShape agreed_shape(const Domain<T>& domain) {
  const auto shape = register_shape<T>(domain.block());
  return comm::allreduce(domain.comm(), shape.width, comm::ReduceOp::min) > 0 ? shape : RegisterShape{};
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
    : domain_(&domain),
      memory_(domain.comm(), bytes_of_counters() + 2 * bytes_of_words<T>(domain.block()), "heat/seams of bands"),
      parts_("heat/norm parts of bands", most_norms * device::resident_teams()), registers_(agreed_shape(domain)),
      between_("heat/rows between bands", 4 * registers_.bands * words_of_row<T>(domain.block())) {
  const auto& block = domain.block();
  const int slow = block.dimensions - 1, rank = domain.comm().rank();
  with_ = {.seams = {},
           .counters = {reinterpret_cast<device::Counter*>(memory_.of(rank))},
           .wait = memory_.wait(),
           .begin = 1,
           .sweeps = 0,
           .norm_every = 0,
           .parts = parts_.data(),
           .wraps = {block.wraps[0] && slow > 0, block.wraps[1] && slow > 1},
           .registers = registers_,
           .between = between_.data(),
           .row_words = words_of_row<T>(block)};
  const auto words = [&](int of, int from_side) {
    return reinterpret_cast<Word*>(memory_.of(of) + bytes_of_counters() +
                                   static_cast<std::size_t>(from_side) * bytes_of_words<T>(block));
  };
  for (int side = 0; side < 2; ++side) {
    const int other = block.wraps[slow] ? rank : block.neighbours[2 * slow + side];
    if (other != comm::no_rank) with_.seams[side] = {other, words(other, 1 - side), words(rank, side)};
  }
}

template <class T>
void PersistentLaunch<T>::queue(const ExecutionSpace& instance, int from, int sweeps, Norm norm, int norm_every,
                                const stepping::NormSlots& slots) {
  if (registers_.width == 0 || sweeps == 1) return queue_kernel(instance, from, sweeps, norm, norm_every, slots);
  queue_kernel(instance, from, sweeps - 1, norm, norm_every, slots);
  const bool has_norm = norm_every > 0 && sweeps % norm_every == 0;
  queue_kernel(instance, (from + sweeps - 1) % 2, 1, norm, has_norm ? 1 : 0, slots);
}

template <class T>
void PersistentLaunch<T>::queue_kernel(const ExecutionSpace& instance, int from, int sweeps, Norm norm, int norm_every,
                                       const stepping::NormSlots& slots) {
  with_.sweeps = sweeps;
  with_.norm_every = norm_every;
  const int norms = norm_every > 0 ? sweeps / norm_every : 0;
  const auto kind = norms > 0 ? norm : Norm::none;
  const int parts = sweep_bands(instance, domain_->input(from), domain_->input(1 - from), kind, with_);
  with_.begin += static_cast<device::Counter>(sweeps);
  if (norms > 0) stepping::combine_each(instance, parts_.data(), norms, parts, norm, slots);
}

template class PersistentLaunch<float>;
template class PersistentLaunch<double>;

} // namespace kontor::heat
