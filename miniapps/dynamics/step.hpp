// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "dynamics/body.hpp"
#include "dynamics/kernels/gradient.hpp"
#include "dynamics/kernels/integrate.hpp"
#include "dynamics/kernels/rotate.hpp"
#include "dynamics/kernels/stress.hpp"
#include "run/record/timers.hpp"
#include "stepping/overlap.hpp"

#include <kontor/comm/reduction.hpp>

namespace kontor::dynamics {

/// Steps of a body: what is computed, what travels, in which order.
template <class T>
class Stepper {
 public:
  /// Collective.
  Stepper(Body<T>& body, const comm::Communicator& comm, bool overlap, miniapp::Timers& timers)
      : body_(body), overlap_(overlap), streams_(overlap), least_of_all_(body.clock.data() + least_stable),
        least_(least_of_all_), element_timers_{&timers["gradient"], &timers["rotate"], &timers["stress"]},
        integrate_(timers["integrate"]), minimum_(timers.communication("minimum")) {
    const auto& o = body.options;
    if (o.shared_nodes == mesh::SharedNodes::redundant)
      motion_.emplace(mesh::make_exchange(comm, body.mesh, body.nodes.motion, o.shared_nodes, "motion of ghosts",
                                          streams_.exchange()));
    else
      force_.emplace(mesh::make_exchange(comm, body.mesh, body.nodes.force, o.shared_nodes, "forces at nodes",
                                         streams_.exchange()));
    if (comm.size() == 1 || o.step) return;
    least_ = Kokkos::View<double[1]>("dynamics/least step");
    reduction_.emplace(comm, "least stable step", least_, least_of_all_, comm::ReduceOp::min, streams_.exchange());
  }

  /// The exchange of shared nodes.
  comm::ExchangeBase& exchange() { return motion_ ? static_cast<comm::ExchangeBase&>(*motion_) : *force_; }
  stepping::Streams<Space>& streams() { return streams_; }

  /// Collective; queued. How long the first step of a body at rest may be. Leaves the body as it is.
  void find_first_step() {
    if (body_.options.step) return;
    for (int kernel = 0; kernel < 3; ++kernel) queue_kernel(kernel);
    streams_.exchange_follows();
    if (!reduction_) return;
    reduction_->start(streams_.exchange());
    reduction_->finish(streams_.compute());
    streams_.compute_waits();
  }

  /// Collective; queued. Step number `step`, by `exchange` in place of its own, which moves the same or nothing. The
  /// length of a step is the least stable one of all elements at the beginning of the step before, which travels while
  /// that step sums and integrates: no step waits for all ranks.
  template <class Exchange>
  void queue_step(std::int64_t step, Exchange& exchange) {
    const auto& o = body_.options;
    const auto& compute = streams_.compute();
    const bool renews = !o.step && step % o.every == 0;
    const auto advance = [&] {
      advance_clock(compute, body_.clock, o.safety, o.step.value_or(0));
      if (renews) start_minimum();
    };
    streams_.exchange_follows();
    body_.sums.begin(compute);
    if (o.shared_nodes == mesh::SharedNodes::redundant) {
      stepping::exchange_and_compute(
          streams_, exchange, overlap_, [&](const Space& i) { compute_elements(i, body_.order.interior()); },
          [&](const Space& i) { compute_elements(i, body_.order.edge()); },
          [&](const Space& i) { compute_elements(i, body_.order.all()); });
      advance();
      sum(compute, body_.order.all(), 0, body_.mesh.updated);
    } else {
      const auto first = overlap_ ? body_.order.edge() : body_.order.all();
      compute_elements(compute, first);
      if (!overlap_) advance();
      sum(compute, first, 0, overlap_ ? body_.mesh.shared : body_.mesh.nodes());
      streams_.exchange_follows();
      stepping::exchange_and_compute(
          streams_, exchange, overlap_,
          [&](const Space& i) {
            compute_elements(i, body_.order.interior());
            advance();
            sum(i, body_.order.interior(), body_.mesh.shared, body_.mesh.nodes());
          },
          [](const Space&) {}, [](const Space&) {});
    }
    {
      const miniapp::ScopedTimer timed(integrate_);
      integrate(compute, 0, body_.mesh.updated, body_.nodes, body_.clock);
    }
    if (!renews) return;
    if (reduction_ && exchanges_) {
      const miniapp::ScopedTimer timed(minimum_);
      reduction_->finish(compute);
    }
    streams_.compute_waits();
  }

  /// Local; queued. The kernels over elements, each by itself, and those over nodes: for measurements.
  void queue_kernel(int kernel) {
    const auto& i = streams_.compute();
    const auto all = body_.order.all();
    queue_kernel(kernel, i, all);
    if (kernel == 2) least_stable_step(i, body_.elements, least_);
    if (kernel == 3) {
      body_.sums.begin(i);
      sum(i, all, 0, body_.mesh.updated);
      integrate(i, 0, body_.mesh.updated, body_.nodes, body_.clock);
    }
  }

  /// Local. Whether the minimum over ranks is made; else steps are as long as the last one told.
  void exchange(bool exchanges) { exchanges_ = exchanges; }

  /// Of all ranks; none of one rank, or of fixed steps.
  std::optional<comm::Reduction<Kokkos::View<double[1]>>>& minimum() { return reduction_; }

 private:
  /// The least stable step of all elements that compute() has been given, which is found while forces are summed.
  void start_minimum() {
    streams_.exchange_follows();
    {
      const miniapp::ScopedTimer timed(*element_timers_[2], 0);
      least_stable_step(streams_.exchange(), body_.elements, least_);
    }
    if (!reduction_ || !exchanges_) return;
    const miniapp::ScopedTimer timed(minimum_, 0);
    reduction_->start(streams_.exchange());
  }

  void queue_kernel(int kernel, const Space& instance, const Blocks& blocks) {
    if (kernel == 0) gradient(instance, blocks, body_.nodes, body_.elements, body_.clock);
    if (kernel == 1) rotate(instance, blocks, body_.elements, body_.clock);
    if (kernel == 2) stress(instance, blocks, body_.nodes, body_.elements, body_.options.hourglass, body_.clock);
  }

  void compute_elements(const Space& instance, const Blocks& blocks) {
    for (int kernel = 0; kernel < 3; ++kernel) {
      const miniapp::ScopedTimer timed(*element_timers_[kernel]);
      queue_kernel(kernel, instance, blocks);
    }
  }

  /// The forces of these elements at nodes; gathered, at nodes [begin, end).
  void sum(const Space& instance, const Blocks& blocks, LocalIndex begin, LocalIndex end) {
    const miniapp::ScopedTimer timed(integrate_, 0);
    body_.sums.add(instance, blocks, begin, end);
  }

  Body<T>& body_;
  bool overlap_, exchanges_ = true;
  stepping::Streams<Space> streams_;
  std::optional<comm::Exchange<NodeView<T* [6]>>> motion_;            ///< mesh::SharedNodes::redundant
  std::optional<comm::Exchange<NodeView<double* [3]>>> force_;        ///< mesh::SharedNodes::sum
  Kokkos::View<double[1]> least_of_all_, least_;                      ///< the clock's; of this rank
  std::optional<comm::Reduction<Kokkos::View<double[1]>>> reduction_; // after the streams that it is queued on
  std::array<miniapp::Timer*, 3> element_timers_;                     ///< of the kernels over elements
  miniapp::Timer &integrate_, &minimum_;
};

} // namespace kontor::dynamics
