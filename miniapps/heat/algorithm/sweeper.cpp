// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "heat/algorithm/sweeper.hpp"

#include "grid/wrap.hpp"
#include "heat/kernels/sweep.hpp"
#include "machine/simulation.hpp"
#include "stepping/graph_choice.hpp"

#include <kontor/comm/collectives.hpp>
#include <kontor/comm/exchange/trial.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace kontor::heat {
namespace {

using device::Region;
using miniapp::ScopedTimer;

/// Fields of a rank that are together smaller than this are found in any cache again by the next sweep.
constexpr std::size_t cached_bytes = 4 << 20;
/// Where the ranks' caches and memory cannot be tried: the crossing of one machine
/// (lab/notebook/performance.md).
constexpr std::size_t untried_bytes = 20 << 20;

} // namespace

template <class T>
Sweeper<T>::Sweeper(Domain<T>& domain, bool overlap, miniapp::Timers& timers)
    : domain_(&domain), overlap_(overlap), timers_(timers), compute_(timers["compute"]),
      regions_(grid::split(domain.block(), Padding<T>::line)), streams_(overlap && regions_.any_strips()),
      halos_(make_halos()), streaming_(!on_device && domain.options().stores == Stores::streaming) {
  if constexpr (on_device) device_sweep_.emplace(domain.block(), regions_);
  const auto& options = domain.options();
  if (stepping::exactly_summed(options.norm, options.sums)) exact_norm_.emplace(domain.block());
}

template <class T>
std::array<grid::Halo<T>, 2> Sweeper<T>::make_halos() const {
  const auto& block = domain_->block();
  const auto slots = grid::halo_slots(domain_->comm(), block, grid::across_faces(block.dimensions));
  const auto make = [&](const comm::Communicator& comm, int which, const char* label) {
    auto halo = grid::make_halo(comm, slots, block, domain_->field(which), label, streams_.exchange());
    halo.measure_times();
    return halo;
  };
  auto first = make(domain_->comm(), 0, "heat/halo of u");
  const comm::Communicator as_chosen(domain_->comm().native(), first.chosen()); // by `auto`, once for both
  auto second = make(as_chosen, 1, "heat/halo of v");
  return {std::move(first), std::move(second)};
}

template <class T>
void Sweeper<T>::sweep(Norm norm) {
  const Region region("heat/step");
  if (domain_->transient()) domain_->set_time_dependent();
  if constexpr (on_device)
    sweep_on_device(domain_->current(), norm);
  else
    norm_part_ = sweep_on_host(norm);
  domain_->advance();
  compute_.add(0);
}

template <class T>
void Sweeper<T>::leave_norm_part(Norm norm, const stepping::NormSlots& slots) {
  leave_norm_part(1 - domain_->current(), norm, slots);
}

/// Of the sweep from that field.
template <class T>
void Sweeper<T>::leave_norm_part(int from, Norm norm, const stepping::NormSlots& slots) {
  const ScopedTimer timed(compute_, 0);
  if (exact_norm_)
    exact_norm_->leave(streams_.compute(), domain_->field(from), domain_->field(1 - from), slots);
  else
    device_sweep_->leave_norm(streams_.compute(), norm, slots);
}

template <class T>
void Sweeper<T>::wrap_field(int which) {
  const ScopedTimer timed(compute_, 0);
  grid::wrap(streams_.compute(), domain_->field(which), domain_->block());
}

/// Returns the norm's part of this rank.
template <class T>
double Sweeper<T>::sweep_on_host(Norm norm) requires(!on_device && sizeof(T) > 0) {
  wrap_field(domain_->current());
  const auto in = domain_->input(domain_->current());
  const auto& out = domain_->field(1 - domain_->current());
  double result = 0;
  const auto compute = [&](const Box& box) {
    const ScopedTimer timed(compute_, 0);
    const double part = miniapp::compute("heat/sweep", box.size(), domain_->block().all().size(), [&] {
      return sweep_in_rows(streams_.compute(), in, out, box, on_the_way(norm), streaming_);
    });
    result = norm == Norm::max ? std::max(result, part) : result + part;
  };
  auto& halo = halos_[domain_->current()];
  halo.start();
  if (overlap_) {
    if (!regions_.interior.empty()) compute(regions_.interior);
    halo.finish();
    for (const auto& strip : regions_.strips)
      if (!strip.empty()) compute(strip);
  } else {
    halo.finish();
    compute(domain_->block().all());
  }
  return result;
}

/// The same from the field given, queued, with the norm's parts left on the device: nothing here waits but an
/// exchange that is not ordered by the device. Strips come after the ghost cells that they read, and after
/// the interior of the sweep before; the next interior comes after the strips.
template <class T>
void Sweeper<T>::sweep_on_device(int from, Norm norm) {
  if constexpr (on_device) { // else clang instantiates it all the same
    wrap_field(from);
    const auto in = domain_->input(from);
    const auto& out = domain_->field(1 - from);
    auto& halo = halos_[from];
    const auto compute = [&](auto boxes, const ExecutionSpace& instance) {
      const ScopedTimer timed(compute_, 0);
      ((*device_sweep_).*boxes)(instance, in, out, on_the_way(norm));
    };
    if (overlap_) {
      streams_.mark_compute();
      if (halo.stream_ordered()) halo.start(); // what is queued first can go first
      compute(&DeviceSweep<T>::interior, streams_.compute());
      if (!halo.stream_ordered()) halo.start(); // waits, and so does the host
      halo.finish();
      streams_.exchange_waits();
      compute(&DeviceSweep<T>::strips, streams_.exchange());
      streams_.compute_waits();
    } else {
      halo.start();
      halo.finish();
      compute(&DeviceSweep<T>::all, streams_.compute());
    }
  }
}

template <class T>
void Sweeper<T>::choose_stores(Norm norm) {
  if (on_device || domain_->options().stores != Stores::automatic) return;
  const auto& comm = domain_->comm();
  const auto bytes =
      comm::allreduce(comm, 2 * domain_->field(0).span() * sizeof(T), comm::ReduceOp::max); // of fields
  if (bytes <= cached_bytes) return;
  // Functions of time are not asked for times after the deck's last one.
  if (miniapp::charges_computation() || domain_->depends_on_time()) {
    streaming_ = bytes > untried_bytes;
    return;
  }
  const Region region("heat/trial");
  stores_seconds_ = comm::try_in_turns(comm, 2, [&](std::size_t streaming, int count) {
    streaming_ = streaming == 1;
    comm::Stopwatch watch;
    double seconds = 0;
    for (int i = 0; i < count; ++i) sweep(norm);
    streams_.fence();
    watch.lap(seconds);
    return seconds / count;
  });
  streaming_ = comm::choose(stores_seconds_) == 1;
}

/// Why sweeps cannot be made by graphs, equal on all ranks.
template <class T>
std::optional<std::string> Sweeper<T>::obstacle_to_graph(const stepping::StepSchedule& schedule) const {
  if (!on_device) return "sweeps are made on the host";
  if (domain_->depends_on_time()) return "the deck's boundary values or source depend on time";
  if (const int alike = schedule.alike_after(0, graph_shape_); alike < graph_shape_.steps)
    return fmt::format("a graph makes {} sweeps in a row without snapshot{}, and there are {}",
                       graph_shape_.steps, graph_shape_.norm_every > 0 ? "" : " or norm that is waited for",
                       alike);
  return stepping::obstacle_to_graph(domain_->comm(), halos_[0]);
}

template <class T>
void Sweeper<T>::choose_graph(const stepping::StepSchedule& schedule, Norm norm,
                              const stepping::NormSlots& slots) {
  const auto& options = domain_->options();
  graph_shape_ = schedule.graph();
  if (!stepping::wants_graph(domain_->comm(), options.graph, options.graph_location,
                             obstacle_to_graph(schedule)))
    return;
  if constexpr (on_device) {
    capture_graph(norm, slots);
    if (options.graph == Graphs::automatic && !graph_is_faster(norm, slots)) return graph_.forget();
    graph_timer_ = &timers_["graph"];
  }
}

/// Collective. Throws AgreedError.
template <class T>
void Sweeper<T>::capture_graph(Norm norm, const stepping::NormSlots& slots) {
  const auto queue_sweeps = [this, norm, slots, shape = graph_shape_](int first) {
    for (int n = 1; n <= shape.steps; ++n) {
      const int from = (first + n - 1) % 2;
      sweep_on_device(from, shape.norm(n) ? norm : Norm::none);
      if (shape.norm(n)) leave_norm_part(from, norm, slots);
    }
  };
  stepping::capture_on_all(domain_->comm(), domain_->options().graph_location,
                           [&] { graph_.capture(streams_, 2, queue_sweeps); });
}

/// Collective.
template <class T>
bool Sweeper<T>::graph_is_faster(Norm norm, const stepping::NormSlots& slots) {
  const Region region("heat/trial");
  const auto launch = [&] {
    for (int n = 1; n <= graph_shape_.steps; ++n) {
      sweep(graph_shape_.norm(n) ? norm : Norm::none);
      if (graph_shape_.norm(n)) leave_norm_part(norm, slots);
    }
  };
  graph_seconds_ = stepping::try_graph(
      domain_->comm(), launch, [&] { replay_graph(); }, [&] { streams_.fence(); });
  return stepping::graph_is_faster(graph_seconds_);
}

template <class T>
void Sweeper<T>::sweep_by_graph() {
  const ScopedTimer timed(*graph_timer_);
  replay_graph();
}

template <class T>
void Sweeper<T>::replay_graph() {
  for (auto& halo : halos_) halo.poll();
  graph_.replay(streams_, domain_->current());
  domain_->advance(graph_shape_.steps);
}

template <class T>
void Sweeper<T>::hand_in_halo_times() {
  for (const auto& halo : halos_) timers_.add(halo.times());
  forget_halo_times();
}

template <class T>
void Sweeper<T>::forget_halo_times() {
  for (auto& halo : halos_) halo.reset_times();
}

template class Sweeper<float>;
template class Sweeper<double>;

} // namespace kontor::heat
