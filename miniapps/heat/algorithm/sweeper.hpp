// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "grid/halo.hpp"
#include "grid/halo_pair.hpp"
#include "grid/regions.hpp"
#include "heat/kernels/device_sweep.hpp"
#include "heat/kernels/exact_norm.hpp"
#include "heat/kernels/pass.hpp"
#include "heat/problem/domain.hpp"
#include "run/record/sampled_exchange.hpp"
#include "stepping/streams.hpp"

namespace kontor::heat {

/// How the sweeps or steps of a domain are made: the halo and the kernels, in their order. On a host a sweep is
/// complete on return, on a device it is queued.
template <class T>
class Sweeper {
 public:
  using ExecutionSpace = typename FieldView<T>::execution_space;
  using Halo = grid::Halo<T>;

  /// Collective. The domain and the timers must outlive this: the region compute. With
  /// overlap the interior is swept while the halo travels.
  Sweeper(Domain<T>&, bool overlap, miniapp::Timers&);
  Sweeper(const Sweeper&) = delete;
  Sweeper& operator=(const Sweeper&) = delete;

  /// Collective. So many sweeps by one exchange, at most options().steps_per_pass, from that field. A norm is that of a
  /// single sweep. On a device nothing here waits but an exchange that the host takes part in. Returns the field that
  /// has the result.
  int queue(int from, int sweeps, Norm);
  /// Local. The same without the halo, as if there were no other rank.
  int queue_alone(int from, int sweeps, Norm);
  /// Local. The domain has made so many sweeps by a pass.
  void moved(int sweeps);
  /// Collective. Before sweeps from a state that no sweep has left. Passes on a device read constants beyond boundary
  /// faces of other ranks in both fields, and a pass brings those of one.
  void begin();
  /// Local. This rank's part of the norm of the sweep just made, unless it goes to a slot.
  double norm_part() const { return norm_part_; }
  /// Local; waits for nothing. Device, and exact sums: the next slot = that part, of the sweep from field `from`.
  void leave_norm_part(int from, Norm, const stepping::NormSlots&);

  /// Local. Passes are made so from now on.
  void set_shape(const PassShape& shape) { shape_ = shape; }
  /// Local, for trials. A pass without the halo; on a host of the cells in the box alone.
  void sweep_part(const Box&, Norm);
  /// Local; waits for nothing. Ghosts of axes that wrap, in that field.
  void wrap(int field);
  /// Local. Exchanges notice failures of other ranks.
  void poll() { halos_.poll(); }
  /// Whether exact sums, in kernels of their own, are made of norms.
  bool has_exact_norms() const { return exact_norm_.has_value(); }

  stepping::Streams<ExecutionSpace>& streams() { return streams_; }
  const stepping::Streams<ExecutionSpace>& streams() const { return streams_; }
  /// Of field 0 or 1; they are alike.
  const Halo& halo(int field = 0) const { return halos_[field]; }
  /// The name of the kernel, for the record.
  const char* kernel() const { return plain_ ? "plain" : on_device ? "columns" : "rows"; }
  /// How passes are made.
  const PassShape& shape() const { return shape_; }

  /// Local. Adds the phases of the halos since the last call to the timers.
  void hand_in_halo_times();
  void forget_halo_times();

 private:
  template <class Exchange>
  void queue_sweep(int from, Norm, Exchange&, int sweeps = 1);
  int after(int from, int sweeps) const { return (from + (on_device ? shape_.kernels(sweeps) : 1)) % 2; }
  Norm on_the_way(Norm norm) const { return exact_norm_ ? Norm::none : norm; }

  Domain<T>* domain_;
  bool overlap_;
  bool plain_; ///< the kernel
  miniapp::Timers& timers_;
  miniapp::Timer& compute_;          ///< calls: sweeps that the host has made or launched
  miniapp::ExchangeSamples samples_; ///< of the halos
  grid::Regions regions_;
  stepping::Streams<ExecutionSpace> streams_;
  grid::HaloPair<T> halos_;
  std::optional<DeviceSweep<T>> device_sweep_;
  std::optional<ExactNorm<T>> exact_norm_; ///< else kernels compute parts of norms on the way
  PassShape shape_;
  PassRoom<T> pass_room_{"heat/pass", 0, 0};
  double norm_part_ = 0;
};

extern template class Sweeper<float>;
extern template class Sweeper<double>;

} // namespace kontor::heat
