// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "heat/algorithm/persistent_launch.hpp"

#include "stepping/combine_each.hpp"

#include <kontor/comm/collectives.hpp>

#include <fmt/format.h>

namespace kontor::heat {
namespace {

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
  return stepping::PeerParts::refusal<MemorySpace>(domain.comm());
}

template <class T>
PersistentLaunch<T>::PersistentLaunch(const Domain<T>& domain)
    : domain_(&domain), registers_(agreed_shape(domain)),
      teams_(comm::allreduce(domain.comm(), teams_of<T>(domain.block(), registers_), comm::ReduceOp::max)),
      memory_(domain.comm(),
              bytes_of_counters() + 2 * bytes_of_words<T>(domain.block()) +
                  stepping::PeerParts::bytes(domain.comm().size(), teams_, 1),
              "heat/edges of bands"),
      parts_("heat/norm parts of bands", most_norms * device::resident_teams()),
      between_("heat/rows between bands", 4 * registers_.bands * words_of_row<T>(domain.block())),
      norm_parts_("heat/norm parts of ranks"), ended_("heat/ended sweeps"), told_("heat/ended sweeps") {
  const auto& block = domain.block();
  const int slow = block.dimensions - 1, rank = domain.comm().rank();
  with_ = {.borders = {},
           .counters = {reinterpret_cast<device::Counter*>(memory_.of(rank))},
           .wait = memory_.wait(),
           .begin = 1,
           .sweeps = 0,
           .norm_every = 0,
           .parts = parts_.data(),
           .stop = {},
           .wraps = {block.wraps[0] && slow > 0, block.wraps[1] && slow > 1},
           .registers = registers_,
           .between = between_.data(),
           .row_words = words_of_row<T>(block)};
  const auto words = [&](int of, int from_side) {
    return reinterpret_cast<Word*>(memory_.of(of) + bytes_of_counters() +
                                   static_cast<std::size_t>(from_side) * bytes_of_words<T>(block));
  };
  Kokkos::deep_copy(norm_parts_, stepping::PeerParts(domain.comm(), memory_,
                                                     bytes_of_counters() + 2 * bytes_of_words<T>(block), teams_, 1));
  with_.stop.parts = norm_parts_.data();
  with_.stop.ended = ended_.data();
  for (int side = 0; side < 2; ++side) {
    const int other = block.wraps[slow] ? rank : block.neighbours[2 * slow + side];
    if (other != comm::no_rank) with_.borders[side] = {other, words(other, 1 - side), words(rank, side)};
  }
}

template <class T>
void PersistentLaunch<T>::queue(const ExecutionSpace& instance, int from, int sweeps, const SweepNorms& norms,
                                bool exchanges) {
  with_.stop.below = 0;
  const auto borders = std::to_array(with_.borders);
  if (!exchanges) std::ranges::fill(with_.borders, Border{});
  queue_sweeps(instance, from, sweeps, norms);
  std::ranges::copy(borders, with_.borders);
  combine(instance, sweeps, norms);
}

template <class T>
int PersistentLaunch<T>::sweep_until(const ExecutionSpace& instance, int from, int sweeps, const SweepNorms& norms,
                                     double tolerance) {
  constexpr double rounding = 1e-10;
  auto& stop = with_.stop;
  stop.below = stepping::to_parts(norms.kind, tolerance) * (1 + rounding);
  stop.begin = with_.begin;
  queue_sweeps(instance, from, sweeps, norms);
  Kokkos::deep_copy(instance, told_, ended_);
  instance.fence();
  check();
  const bool ended = told_() > stop.begin;
  const int made = ended ? static_cast<int>(told_() - stop.begin) : sweeps;
  const int in_kernel = registers_.width > 0 ? sweeps - 1 : sweeps; // see queue_sweeps()
  stop.norms += static_cast<device::Counter>(ended ? made : std::max(0, in_kernel - 1)) / norms.every;
  if (ended && registers_.width > 0) {
    // Bands in registers have written nothing, and the first field is as it was. Their last rows may still be read:
    // the next ones go where those would go.
    with_.begin += (sweeps - made + 1) % 2;
    stop.below = 0;
    queue_sweeps(instance, from, made, {Norm::none, 0, {}});
  }
  combine(instance, made, norms);
  return made;
}

/// In registers a kernel leaves the last field alone: a second one makes the last sweep, as a run's last sweep is
/// verified by the field before it.
template <class T>
void PersistentLaunch<T>::queue_sweeps(const ExecutionSpace& instance, int from, int sweeps, const SweepNorms& norms) {
  const int first = registers_.width > 0 ? sweeps - 1 : sweeps;
  with_.parts = parts_.data();
  if (first > 0) queue_kernel(instance, from, first, norms.kind, norms.every);
  if (first == sweeps) return;
  const bool has_norm = norms.every > 0 && sweeps % norms.every == 0;
  if (has_norm) with_.parts += std::int64_t{sweeps / norms.every - 1} * registers_.bands;
  queue_kernel(instance, (from + first) % 2, 1, norms.kind, has_norm ? 1 : 0);
}

template <class T>
void PersistentLaunch<T>::queue_kernel(const ExecutionSpace& instance, int from, int sweeps, Norm norm,
                                       int norm_every) {
  with_.sweeps = sweeps;
  with_.norm_every = norm_every;
  const bool has_norms = norm_every > 0 && sweeps >= norm_every;
  if constexpr (on_device) // else it is refused, and its kernels are not linked
    sweep_bands(instance, domain_->input(from), domain_->input(1 - from), has_norms ? norm : Norm::none, with_);
  with_.begin += static_cast<device::Counter>(sweeps);
}

template <class T>
void PersistentLaunch<T>::combine(const ExecutionSpace& instance, int sweeps, const SweepNorms& norms) {
  const int count = norms.every > 0 ? sweeps / norms.every : 0;
  const int teams = teams_of<T>(domain_->block(), registers_);
  if (count > 0) stepping::combine_each(instance, parts_.data(), count, teams, norms.kind, norms.slots);
}

template class PersistentLaunch<float>;
template class PersistentLaunch<double>;

} // namespace kontor::heat
