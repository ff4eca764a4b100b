// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "heat/sweeper.hpp"

#include "heat/wrap.hpp"

#include <kontor/comm/collectives.hpp>
#include <kontor/comm/detail/trial.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <utility>

namespace kontor::heat {
namespace {

using comm::Region;
using miniapp::ScopedTime;

/// Fields of a rank that are together larger than this are not found in cache again by the next sweep, so
/// stores go past it (docs/performance.md has the crossing measured). Processors tell the size of a cache but
/// not how many ranks share it, hence a constant.
constexpr std::size_t cached_bytes = 20 << 20;

bool pays_to_stream(Stores stores, std::size_t bytes_of_fields) {
  return stores == Stores::streaming || (stores == Stores::automatic && bytes_of_fields > cached_bytes);
}

} // namespace

template <class T>
Sweeper<T>::Sweeper(Domain<T>& domain, bool overlap)
    : domain_(&domain), overlap_(overlap), regions_(split(domain.block(), Padding<T>::line)),
      queues_(overlap && regions_.any_strips()),
      halos_{make_halo(domain.comm(), domain.block(), domain.field(0), "heat/halo of u", queues_.halo()),
             make_halo(domain.comm(), domain.block(), domain.field(1), "heat/halo of v", queues_.halo())},
      streaming_(!on_device &&
                 pays_to_stream(domain.options().stores, 2 * domain.field(0).span() * sizeof(T))) {
  if constexpr (on_device) device_sweep_.emplace(domain.block(), regions_);
}

template <class T>
void Sweeper<T>::sweep(SweepNorm norm) {
  const Region region("heat/step");
  if (domain_->transient()) domain_->set_time_dependent();
  if constexpr (on_device)
    sweep_on_device(domain_->current(), norm);
  else
    norm_part_ = sweep_on_host(norm);
  domain_->advance();
  ++sweeps_;
}

template <class T>
void Sweeper<T>::leave_norm_part(SweepNorm norm, const NormSlots& slots) {
  const ScopedTime timed(compute_seconds_);
  device_sweep_->leave_norm(queues_.interior(), norm, slots);
}

template <class T>
void Sweeper<T>::wrap_field(int which) {
  const ScopedTime timed(compute_seconds_);
  wrap(queues_.interior(), domain_->field(which), domain_->block());
}

/// Returns the norm's part of this rank.
template <class T>
double Sweeper<T>::sweep_on_host(SweepNorm norm) requires(!on_device) {
  wrap_field(domain_->current());
  const auto in = domain_->input(domain_->current());
  const auto& out = domain_->field(1 - domain_->current());
  double result = 0;
  const auto compute = [&](const Box& box) {
    const ScopedTime timed(compute_seconds_);
    const double part = sweep_in_rows(queues_.interior(), in, out, box, norm, streaming_);
    result = norm == SweepNorm::max ? std::max(result, part) : result + part;
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
void Sweeper<T>::sweep_on_device(int from, SweepNorm norm) requires(on_device) {
  wrap_field(from);
  const auto in = domain_->input(from);
  const auto& out = domain_->field(1 - from);
  auto& halo = halos_[from];
  const auto compute = [&](auto boxes, const ExecutionSpace& instance) {
    const ScopedTime timed(compute_seconds_);
    ((*device_sweep_).*boxes)(instance, in, out, norm);
  };
  if (overlap_) {
    queues_.mark_interior();
    if (halo.stream_ordered()) halo.start(); // what is queued first can go first
    compute(&DeviceSweep<T>::interior, queues_.interior());
    if (!halo.stream_ordered()) halo.start(); // waits, and so does the host
    halo.finish();
    queues_.halo_waits();
    compute(&DeviceSweep<T>::strips, queues_.halo());
    queues_.interior_waits();
  } else {
    halo.start();
    halo.finish();
    compute(&DeviceSweep<T>::all, queues_.interior());
  }
}

/// Why sweeps cannot be made by graphs, equal on all ranks.
template <class T>
std::optional<std::string> Sweeper<T>::obstacle_to_graph(const Agenda& agenda) const {
  if (!on_device) return "sweeps are made on the host";
  if (domain_->depends_on_time()) return "the deck's boundary values or source depend on time";
  if (const int alike = agenda.alike_after(0, graph_shape_); alike < graph_shape_.sweeps)
    return fmt::format("a graph makes {} sweeps in a row without snapshot{}, and there are {}",
                       graph_shape_.sweeps, graph_shape_.norm_every > 0 ? "" : " or norm that is waited for",
                       alike);
  if (domain_->comm().size() == 1) return std::nullopt; // no messages
  const auto& way = halos_[0].chosen();
  if (!halos_[0].stream_ordered())
    return fmt::format("the host takes part in each message by backend '{}'", way.backend);
  if (way.check == comm::CheckLevel::cross_rank)
    return std::string("with comm.check cross_rank the host compares the ranks in each step");
  return std::nullopt;
}

template <class T>
void Sweeper<T>::choose_graph(const Agenda& agenda, SweepNorm norm, const NormSlots& slots) {
  const auto& options = domain_->options();
  if (options.graph == Graphs::off) return;
  graph_shape_ = agenda.graph();
  if (const auto obstacle = obstacle_to_graph(agenda)) {
    if (options.graph == Graphs::automatic) return;
    options.deck.value().fail("solver.graph", fmt::format("is on, but {}; choose auto or off", *obstacle));
  }
  const int tool = Kokkos::Profiling::profileLibraryLoaded() ? 1 : 0;
  if (options.graph == Graphs::automatic && comm::allreduce(domain_->comm(), tool, comm::ReduceOp::max) == 1)
    return;
  if constexpr (on_device) {
    record_graph(norm, slots);
    if (options.graph == Graphs::automatic && !graph_is_faster(norm, slots)) graph_.forget();
  }
}

/// Collective. Throws AgreedError.
template <class T>
void Sweeper<T>::record_graph(SweepNorm norm, const NormSlots& slots) requires(on_device) {
  std::optional<std::string> problem;
  try {
    graph_.record(queues_, graph_shape_, [this, norm, slots](int from, bool with_norm) {
      sweep_on_device(from, with_norm ? norm : SweepNorm::none);
      if (with_norm) leave_norm_part(norm, slots);
    });
  } catch (const std::exception& error) {
    problem = fmt::format("recording sweeps as a graph: {} (solver.graph: off does without)", error.what());
  }
  domain_->comm().agree(problem);
}

/// Collective.
template <class T>
bool Sweeper<T>::graph_is_faster(SweepNorm norm, const NormSlots& slots) requires(on_device) {
  const Region region("heat/trial");
  graph_seconds_ = comm::try_in_turns(domain_->comm(), 2, [&](std::size_t by_graph, int count) {
    comm::Stopwatch watch;
    double seconds = 0;
    for (int i = 0; i < count; ++i) {
      if (by_graph == 1) {
        sweep_by_graph();
        continue;
      }
      for (int n = 1; n <= graph_shape_.sweeps; ++n) {
        sweep(graph_shape_.norm(n) ? norm : SweepNorm::none);
        if (graph_shape_.norm(n)) leave_norm_part(norm, slots);
      }
    }
    queues_.settle();
    watch.lap(seconds);
    return seconds / count;
  });
  constexpr double enough = 0.99; // a device's times vary by less
  return graph_seconds_[1] < enough * graph_seconds_[0];
}

template <class T>
void Sweeper<T>::sweep_by_graph() {
  const Region region("heat/graph");
  const ScopedTime timed(graph_launch_seconds_);
  for (auto& halo : halos_) halo.poll();
  graph_.replay(queues_, domain_->current());
  domain_->advance(graph_shape_.sweeps);
  ++graphs_;
}

template <class T>
void Sweeper<T>::hand_in_times(miniapp::Timers& timers) {
  for (const auto& halo : halos_) timers.add(halo.times());
  timers.add("compute", compute_seconds_, sweeps_);
  if (has_graph()) timers.add("graph", graph_launch_seconds_, graphs_);
  forget_times();
}

template <class T>
void Sweeper<T>::forget_times() {
  for (auto& halo : halos_) halo.reset_times();
  compute_seconds_ = graph_launch_seconds_ = 0;
  sweeps_ = graphs_ = 0;
}

template class Sweeper<float>;
template class Sweeper<double>;

} // namespace kontor::heat
