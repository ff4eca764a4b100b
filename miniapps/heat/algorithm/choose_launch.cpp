// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How many sweeps a launch makes on a device: each its own kernels, many a graph, or a kernel that stays for many.
#include "heat/algorithm/sweeper.hpp"
#include "stepping/graph_choice.hpp"

#include <fmt/format.h>

namespace kontor::heat {

using device::Region;
using miniapp::ScopedTimer;

/// Why sweeps cannot be made by graphs, equal on all ranks.
template <class T>
std::optional<std::string> Sweeper<T>::graph_refusal(const stepping::StepSchedule& schedule) const {
  if (!on_device) return "sweeps are made on the host";
  if (plain_) return "solver.kernel is plain, which is launched sweep by sweep";
  if (domain_->depends_on_time()) return "the deck's boundary values or source depend on time";
  if (const int alike = schedule.alike_after(0, graph_shape_); alike < graph_shape_.steps)
    return fmt::format("a graph makes {} sweeps in a row without snapshot{}, and there are {}", graph_shape_.steps,
                       graph_shape_.norm_every > 0 ? "" : " or norm that is waited for", alike);
  return stepping::graph_refusal(domain_->comm(), halos_[0]);
}

template <class T>
void Sweeper<T>::choose_launch(const stepping::StepSchedule& schedule, Norm norm, const stepping::NormSlots& slots) {
  const auto& options = domain_->options();
  graph_shape_ = schedule.graph();
  graph_passes_.clear();
  for (int made = 0; made < graph_shape_.steps; made += graph_passes_.back())
    graph_passes_.push_back(stepping::steps_together(
        options.sweeps_of_pass(), [&](int n) { return made + n > graph_shape_.steps || graph_shape_.norm(made + n); }));
  graph_.choose(
      domain_->comm(), streams_, options.launch, graph_refusal(schedule), 2,
      [this, norm, slots](int from) { queue_graph(from, norm, slots, true); }, [this] { return domain_->current(); },
      [this] { advance_graph(); });
  graph_.capture_alone(domain_->comm(), streams_, options.launch.location, 2,
                       [this, norm, slots](int from) { queue_graph(from, norm, slots, false); });
  if (graph_) graph_timer_ = &timers_["graph"];
  choose_persistent(schedule, norm, slots);
}

template <class T>
void Sweeper<T>::sweep_by_graph() {
  const ScopedTimer timed(*graph_timer_);
  halos_.poll();
  graph_.replay(streams_, domain_->current());
  advance_graph();
}

template <class T>
void Sweeper<T>::advance_graph() {
  for (const int sweeps : graph_passes_) sweeps == 1 ? domain_->advance() : advance(sweeps);
}

template <class T>
void Sweeper<T>::choose_persistent(const stepping::StepSchedule& schedule, Norm norm,
                                   const stepping::NormSlots& slots) {
  const auto& wanted = domain_->options().launch;
  auto refusal = PersistentLaunch<T>::refusal(*domain_);
  if (!refusal && exact_norm_ && schedule.check_every == 1)
    refusal = "each sweep has a norm of reproducible sums, which is made by kernels of its own";
  if (wanted == Launch::persistent && refusal)
    wanted.location.fail(fmt::format("is persistent, but {}; choose auto or each", *refusal));
  persistent_.reset();
  persistent_trial_.clear();
  if (refusal || (wanted != Launch::persistent && wanted != Launch::automatic)) return;
  if (wanted == Launch::automatic && !stepping::may_try_persistent(domain_->comm())) return;
  constexpr int most = PersistentLaunch<T>::most_norms;
  // The host waits for each kernel that may end sweeps. One without norms, but for its last sweep, is faster.
  const bool ends = schedule.stops_by_norm && schedule.check_every > 0 && !exact_norm_;
  const auto least =
      !ends || schedule.check_every >= most ? most : std::min<std::int64_t>(4, schedule.check_every) * most;
  persistent_shape_ = schedule.graph(static_cast<int>(least), ends);
  if (exact_norm_) persistent_shape_.norm_every = 0;
  if (wanted == Launch::automatic && schedule.limit < 2 * most) return;
  persistent_.emplace(*domain_);
  if (wanted == Launch::persistent) return;
  const device::Region region("heat/trial");
  persistent_trial_ = comm::try_in_turns(domain_->comm(), 2, [&](std::size_t persistent, int count) {
    comm::Stopwatch watch;
    double seconds = 0;
    for (int i = 0; i < count; ++i) {
      if (persistent == 0 && graph_)
        sweep_by_graph();
      else
        for (int made = 0; made < graph_shape_.steps;) made += sweep_some(made, persistent == 1, norm, slots);
    }
    fence();
    watch.lap(seconds);
    return seconds / count;
  });
  constexpr double noise = 0.99;
  if (persistent_trial_[1] >= noise * persistent_trial_[0]) persistent_.reset();
}

/// The next sweeps of the graph's by one launch, after so many of them, as a run without a graph makes them. Returns
/// how many.
template <class T>
int Sweeper<T>::sweep_some(int made, bool persistently, Norm norm, const stepping::NormSlots& slots) {
  if (persistently) {
    const int norms_every = exact_norm_ ? 0 : graph_shape_.norm_every;
    int sweeps = 0;
    while (made + sweeps < graph_shape_.steps && !(exact_norm_ && graph_shape_.norm(made + sweeps + 1))) ++sweeps;
    if (sweeps > 0) return sweep_persistently(sweeps, {norm, norms_every, slots}, 0);
  }
  const bool with_norm = graph_shape_.norm(made + 1);
  sweep(with_norm ? norm : Norm::none);
  if (with_norm) leave_norm_part(1 - domain_->current(), norm, slots);
  return 1;
}

template <class T>
int Sweeper<T>::sweep_persistently(int sweeps, const SweepNorms& norms, double tolerance, bool exchanges) {
  const Region region("heat/persistent");
  const ScopedTimer timed(compute_);
  streams_.compute_waits();
  wrap(domain_->current());
  if (tolerance > 0 && norms.every > 0)
    sweeps = persistent_->sweep_until(streams_.compute(), domain_->current(), sweeps, norms, tolerance);
  else
    persistent_->queue(streams_.compute(), domain_->current(), sweeps, norms, exchanges);
  streams_.exchange_follows();
  for (int i = 0; i < sweeps; ++i) domain_->advance();
  return sweeps;
}

template <class T>
nlohmann::ordered_json Sweeper<T>::launch_record() const {
  auto record = graph_.record("sweeps", graph_shape_.steps);
  if (persistent_) record["launch"] = "persistent";
  if (!persistent_trial_.empty()) {
    auto& trial = record["launch_trial"];
    trial["sweeps"] = graph_shape_.steps;
    trial[graph_ ? "graph" : "each"] = persistent_trial_[0];
    trial["persistent"] = persistent_trial_[1];
  }
  return record;
}

template std::optional<std::string> Sweeper<float>::graph_refusal(const stepping::StepSchedule&) const;
template void Sweeper<float>::choose_persistent(const stepping::StepSchedule&, Norm, const stepping::NormSlots&);
template int Sweeper<float>::sweep_some(int, bool, Norm, const stepping::NormSlots&);
template void Sweeper<float>::sweep_by_graph();
template void Sweeper<float>::advance_graph();
template void Sweeper<float>::choose_launch(const stepping::StepSchedule&, Norm, const stepping::NormSlots&);
template int Sweeper<float>::sweep_persistently(int, const SweepNorms&, double, bool);
template nlohmann::ordered_json Sweeper<float>::launch_record() const;
template std::optional<std::string> Sweeper<double>::graph_refusal(const stepping::StepSchedule&) const;
template void Sweeper<double>::choose_persistent(const stepping::StepSchedule&, Norm, const stepping::NormSlots&);
template int Sweeper<double>::sweep_some(int, bool, Norm, const stepping::NormSlots&);
template void Sweeper<double>::sweep_by_graph();
template void Sweeper<double>::advance_graph();
template void Sweeper<double>::choose_launch(const stepping::StepSchedule&, Norm, const stepping::NormSlots&);
template int Sweeper<double>::sweep_persistently(int, const SweepNorms&, double, bool);
template nlohmann::ordered_json Sweeper<double>::launch_record() const;

} // namespace kontor::heat
