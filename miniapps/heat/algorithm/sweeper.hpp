// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "grid/halo.hpp"
#include "grid/halo_pair.hpp"
#include "grid/regions.hpp"
#include "heat/algorithm/persistent_launch.hpp"
#include "heat/kernels/device_sweep.hpp"
#include "heat/kernels/exact_norm.hpp"
#include "heat/kernels/sweep.hpp"
#include "heat/problem/domain.hpp"
#include "run/record/sampled_exchange.hpp"
#include "stepping/schedule.hpp"
#include "stepping/step_graph.hpp"
#include "stepping/streams.hpp"

namespace kontor::heat {

/// How the sweeps or steps of a domain are made: the halo and the kernels, in their order. On a host a sweep is
/// complete on return, on a device it is queued.
template <class T>
class Sweeper {
 public:
  using ExecutionSpace = typename FieldView<T>::execution_space;
  using Halo = grid::Halo<T>;

  /// Collective. The domain and the timers must outlive this: the regions compute and, with a graph, graph. With
  /// overlap the interior is swept while the halo travels.
  Sweeper(Domain<T>&, bool overlap, miniapp::Timers&);
  Sweeper(const Sweeper&) = delete;
  Sweeper& operator=(const Sweeper&) = delete;

  /// Collective. A sweep from the current field to the other one. On a device nothing here waits but an exchange that
  /// the host takes part in.
  void sweep(Norm);
  /// Collective. Before sweeps from a state that no sweep has left. Passes on a device read constants beyond boundary
  /// faces of other ranks in both fields, and a pass brings those of one.
  void begin();
  /// Collective. So many sweeps without norms by one exchange, at most options().steps_per_pass, from the current
  /// field.
  void pass(int sweeps);
  /// Local. The same without the halo, whose time is the kernels' alone.
  void pass_alone(int sweeps);
  /// Local, equally often on all ranks; waits for nothing. Sweeps without halos and reductions, launched as those of a
  /// run, each `norm_every`-th with a norm. Returns how many.
  int sweep_alone(int norm_every, Norm, const stepping::NormSlots&);
  /// Local. This rank's part of the norm of the sweep just made, unless it goes to a slot.
  double norm_part() const { return norm_part_; }
  /// Local; waits for nothing. Device, and exact sums: the next slot = that part, of the sweep from field `from`.
  void leave_norm_part(int from, Norm, const stepping::NormSlots&);

  /// Collective; sweeps. By a trial, the same on all ranks: stores, prefetching and tiles on a host, of what the deck
  /// leaves open, and nothing where the fields of a rank fit in any cache; kernels of a pass on a device.
  void choose_shape(Norm);
  /// Collective; sweeps. Launches of the schedule as the deck wants them, or the fastest; norms go to the slots. Throws
  /// config::Error or AgreedError, on all ranks. A tool would see the kernels of a graph once, when it is captured.
  void choose_launch(const stepping::StepSchedule&, Norm, const stepping::NormSlots&);
  bool has_graph() const { return static_cast<bool>(graph_); }
  const stepping::GraphShape& graph_shape() const { return graph_shape_; }
  /// Collective. All sweeps of the graph.
  void sweep_by_graph();
  /// Whether many sweeps are made by one kernel.
  bool is_persistent() const { return persistent_.has_value(); }
  /// The most that such a kernel makes, and at which of them it has norms.
  const stepping::GraphShape& persistent_shape() const { return persistent_shape_; }
  /// Collective. So many sweeps by one kernel; with a tolerance it ends them, and the host waits. Returns how many.
  int sweep_persistently(int sweeps, const SweepNorms&, double tolerance, bool exchanges = true);
  /// Local, waits for them. Throws comm::Error if a kernel has waited for another rank in vain.
  void fence() const;
  /// Local. What the record says of the launches.
  nlohmann::ordered_json launch_record() const;

  stepping::Streams<ExecutionSpace>& streams() { return streams_; }
  const stepping::Streams<ExecutionSpace>& streams() const { return streams_; }
  /// Of field 0 or 1; they are alike.
  const Halo& halo(int field = 0) const { return halos_[field]; }
  /// The name of the kernel, for the record.
  const char* kernel() const { return plain_ ? "plain" : on_device ? "columns" : "rows"; }
  /// How passes are made.
  const PassShape& shape() const { return shape_; }
  /// What was tried, and the seconds of a sweep each; empty if there was no choice.
  const PassTrial& trial() const { return trial_; }

  /// Local. Adds the phases of the halos since the last call to the timers.
  void hand_in_halo_times();
  void forget_halo_times();

 private:
  template <class Exchange>
  void queue_sweep(int from, Norm, Exchange&, int sweeps = 1);
  void advance(int sweeps);
  void wrap(int field);
  void queue_graph(int from, Norm, const stepping::NormSlots&, bool exchanges);
  void advance_graph();
  int sweep_some(int made, bool persistently, Norm, const stepping::NormSlots&);
  void choose_persistent(const stepping::StepSchedule&, Norm, const stepping::NormSlots&);
  Norm on_the_way(Norm norm) const { return exact_norm_ ? Norm::none : norm; }
  std::optional<std::string> graph_refusal(const stepping::StepSchedule&) const;

  Domain<T>* domain_;
  bool overlap_;
  bool plain_; ///< the kernel
  miniapp::Timers& timers_;
  miniapp::Timer& compute_;               ///< calls: sweeps that the host has made or launched
  miniapp::ExchangeSamples samples_;      ///< of the halos
  miniapp::Timer* graph_timer_ = nullptr; ///< of launches; null without a graph
  grid::Regions regions_;
  stepping::Streams<ExecutionSpace> streams_;
  grid::HaloPair<T> halos_;
  std::optional<DeviceSweep<T>> device_sweep_;
  std::optional<ExactNorm<T>> exact_norm_; ///< else kernels compute parts of norms on the way
  stepping::GraphShape graph_shape_;
  std::vector<int> graph_passes_;             ///< sweeps each
  stepping::StepGraph<ExecutionSpace> graph_; // after what it uses
  stepping::GraphShape persistent_shape_;
  std::optional<PersistentLaunch<T>> persistent_;
  std::vector<double> persistent_trial_; ///< seconds of as many sweeps without and with it; empty: not tried
  PassShape shape_;
  PassRoom<T> pass_room_{"heat/pass", 0, 0};
  PassTrial trial_;
  double norm_part_ = 0;
};

extern template class Sweeper<float>;
extern template class Sweeper<double>;

} // namespace kontor::heat
