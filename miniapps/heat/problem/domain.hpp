// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "grid/halo.hpp"
#include "heat/names.hpp"
#include "heat/options.hpp"
#include "heat/problem/stencil.hpp"
#include "heat/problem/sweep_position.hpp"

#include <kontor/comm/communicator.hpp>

#include <array>
#include <memory>

namespace kontor::heat {

/// One rank's part of a problem: the two fields that sweeps go back and forth between, and all that the deck says about
/// their cells.
template <class T>
class Domain : public SweepPosition {
 public:
  /// Collective over `comm`. Options are resolved. Throws config::Error on all ranks if a function of the deck is not
  /// finite somewhere.
  Domain(const Options&, const comm::Communicator& comm);

  const Options& options() const { return options_; }
  const comm::Communicator& comm() const { return cartesian_; }
  /// With one layer of ghosts, which a sweep reads, as field().
  const Block& block() const { return block_; }
  /// With all layers that a pass reads, as deep_field().
  const Block& deep_block() const { return deep_block_; }

  bool transient() const { return options_.equation == Equation::transient; }
  /// Whether the deck fixes the number of sweeps, or else convergence does.
  bool fixed_sweeps() const { return tolerance() == 0; }
  /// The norm of an update at which sweeps stop; 0: the number of sweeps or steps is fixed.
  double tolerance() const { return transient() ? 0 : options_.tolerance.value(); }
  std::int64_t sweep_limit() const { return transient() ? steps_ : options_.max_sweeps; }

  /// Collective. Both fields to the start: initial value, sweep 0, time 0.
  void set_initial();
  /// Collective. Brings what depends on time to now(), for the next step from the current field.
  void set_time_dependent();
  /// Whether a boundary value or the source depends on time.
  bool depends_on_time() const { return depends_on_time_; }
  const FieldView<T>& field(int which) const { return fields_[which]; }
  const FieldView<T>& deep_field(int which) const { return deep_fields_[which]; }
  const BlockView<T>& source() const { return source_; }
  const Stencil<T>& stencil() const { return stencil_; }
  SweepInput<T> input(int which) const { return {fields_[which], source_, stencil_, block_}; }

  /// Time of the solution.
  double now() const { return time_after(sweeps()); }
  double time_after(std::int64_t sweeps) const { return step_ * static_cast<double>(sweeps); }
  /// dt; 0 if steady.
  double step() const { return step_; }
  double cells() const;

  /// Local, waits for kernels that are running. The cells of the current field (k, j, i) in host memory: the field
  /// itself where the host reaches it, else a copy.
  grid::ValuesOnHost<T> current_on_host() const;
  /// Local. The ghost cells of a field before all boundary faces, at time t.
  void refill_boundaries(int which, double t) const;
  /// Collective. The source at time t, if there is one.
  void fill_source(double t);
  /// Local. Of a deep field: those of faces for one layer of ghosts; of edges and corners, too, for more.
  std::vector<grid::HaloSlot> halo_slots() const;

 private:
  struct Functions; ///< of the deck, compiled

  void make_deep_source();

  Options options_;
  comm::Communicator cartesian_;
  Block deep_block_, block_;
  std::array<FieldView<T>, 2> deep_fields_, fields_;    ///< the same, with all layers of ghosts and with one
  BlockView<T> source_;                                 ///< empty if there is none
  FieldView<T> deep_source_{"heat/no source", 0, 0, 0}; ///< the same for passes of several sweeps
  std::shared_ptr<Functions> functions_;
  bool depends_on_time_ = false; ///< equal on all ranks
  std::int64_t steps_ = 0;
  double step_ = 0;
  Stencil<T> stencil_;
};

extern template class Domain<float>;
extern template class Domain<double>;

} // namespace kontor::heat
