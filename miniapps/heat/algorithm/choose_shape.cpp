// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "heat/algorithm/pass_trial.hpp"
#include "heat/algorithm/sweeper.hpp"
#include "machine/simulation.hpp"

#include <kontor/comm/collectives.hpp>

namespace kontor::heat {
namespace {

/// Fields of a rank that are together smaller than this are found in any cache again by the next sweep.
constexpr std::size_t cached_bytes = 4 << 20;
/// Where the ranks' caches and memory cannot be tried: the crossing of one machine (lab/results/heat-cpu.md).
constexpr std::size_t untried_bytes = 20 << 20;
/// Of a part that no cache holds.
constexpr std::int64_t enough_cells = 8 << 20;

} // namespace

template <class T>
void Sweeper<T>::choose_shape(Norm norm) {
  const auto& options = domain_->options();
  if (plain_ || (on_device && options.sweeps_of_pass() == 1)) return;
  const auto bytes =
      comm::allreduce(domain_->comm(), 2 * domain_->field(0).span() * sizeof(T), comm::ReduceOp::max); // of fields
  if (!on_device && bytes <= cached_bytes) return;
  // Functions of time are not asked for times after the deck's last one.
  if (miniapp::compute_time_is_simulated() || domain_->depends_on_time()) {
    if (options.stores == Stores::automatic && bytes > untried_bytes) shape_ = {1, true, streaming_prefetch};
    return;
  }
  const device::Region region("heat/trial");
  auto box = domain_->block().all();
  auto& rows = box.end[domain_->block().dimensions - 1];
  const auto shapes = shapes_to_try(options, rows);
  // A host tries a large block on a part that no cache holds.
  if (!on_device) rows = std::min(rows, std::max<std::int64_t>(1, enough_cells * rows / box.size()));
  trial_ = try_passes(
      domain_->comm(), shapes,
      [&](const PassShape& shape) {
        shape_ = shape;
        const int from = domain_->current();
        if constexpr (on_device)
          queue_alone(from, shape.sweeps, Norm::none);
        else
          sweep_in_rows(streams_.compute(), domain_->input(from), domain_->field(1 - from), box, on_the_way(norm),
                        shape, pass_room_);
        moved(shape.sweeps);
      },
      [&] { streams_.fence(); });
  shape_ = fastest(trial_);
}

template void Sweeper<float>::choose_shape(Norm);
template void Sweeper<double>::choose_shape(Norm);

} // namespace kontor::heat
