// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "heat/algorithm/sweeper.hpp"

#include "grid/wrap.hpp"
#include "heat/kernels/plain.hpp"
#include "machine/simulation.hpp"
#include "stepping/overlap.hpp"

namespace kontor::heat {
namespace {

using device::Region;
using miniapp::SampledExchange;
using miniapp::ScopedTimer;

} // namespace

template <class T>
Sweeper<T>::Sweeper(Domain<T>& domain, bool overlap, miniapp::Timers& timers)
    : domain_(&domain), overlap_(overlap && domain.options().sweeps_of_pass() == 1),
      plain_(domain.options().kernel == SweepKernel::plain), timers_(timers), compute_(timers["compute"]),
      samples_(timers), regions_(grid::split(domain.deep_block(), Padding<T>::line)),
      streams_(overlap_ && regions_.any_strips()),
      halos_(domain.comm(), domain.halo_slots(), domain.deep_block(), {domain.deep_field(0), domain.deep_field(1)},
             {"heat/halo of u", "heat/halo of v"}, streams_.exchange()) {
  shape_.streaming = !on_device && domain.options().stores == Stores::streaming;
  shape_.prefetch = shape_.streaming ? streaming_prefetch : 0;
  halos_.measure_times();
  if constexpr (on_device) device_sweep_.emplace(domain.deep_block(), regions_, plain_);
  const auto& options = domain.options();
  if (stepping::exactly_summed(options.norm, options.sums)) exact_norm_.emplace(domain.block());
}

template <class T>
int Sweeper<T>::queue(int from, int sweeps, Norm norm) {
  const Region region("heat/step");
  if (domain_->depends_on_time()) {
    const ScopedTimer timed(timers_["formulas"]);
    domain_->set_time_dependent();
  }
  SampledExchange halo(halos_[from], samples_);
  queue_sweep(from, norm, halo, sweeps);
  compute_.add(0);
  return after(from, sweeps);
}

template <class T>
int Sweeper<T>::queue_alone(int from, int sweeps, Norm norm) {
  stepping::NoExchange none;
  queue_sweep(from, norm, none, sweeps);
  return after(from, sweeps);
}

template <class T>
void Sweeper<T>::sweep_part(const Box& box, Norm norm) {
  const int from = domain_->current();
  if constexpr (on_device)
    queue_alone(from, shape_.sweeps, Norm::none);
  else
    sweep_in_rows(streams_.compute(), domain_->input(from), domain_->field(1 - from), box, on_the_way(norm), shape_,
                  pass_room_);
  moved(shape_.sweeps);
}

template <class T>
void Sweeper<T>::begin() {
  if (!on_device || domain_->options().sweeps_of_pass() == 1) return;
  for (const int field : {0, 1}) {
    halos_[field].start();
    halos_[field].finish();
    wrap(field);
  }
  streams_.fence();
}

template <class T>
void Sweeper<T>::wrap(int field) {
  grid::wrap(streams_.compute(), domain_->deep_field(field), domain_->deep_block());
}

/// A host makes a pass from field to field, a device each of its kernels.
template <class T>
void Sweeper<T>::moved(int sweeps) {
  domain_->advance_pass(sweeps, on_device ? shape_.kernels(sweeps) : 1);
}

template <class T>
void Sweeper<T>::leave_norm_part(int from, Norm norm, const stepping::NormSlots& slots) {
  const ScopedTimer timed(compute_, 0);
  if (exact_norm_)
    exact_norm_->leave(streams_.compute(), domain_->field(from), domain_->field(1 - from), slots);
  else
    device_sweep_->leave_norm(streams_.compute(), norm, slots);
}

/// From that field to the other one. The norm's part of this rank is in norm_part_, or left on the device.
template <class T>
template <class Exchange>
void Sweeper<T>::queue_sweep(int from, Norm norm, Exchange& halo, int sweeps) {
  const auto in = domain_->input(from);
  const auto& out = domain_->field(1 - from);
  norm_part_ = 0;
  const auto compute = [&](const Box& box) {
    if (box.empty()) return;
    const ScopedTimer timed(compute_, 0);
    auto shape = shape_;
    shape.sweeps = sweeps;
    const double part = miniapp::compute("heat/sweep", sweeps * box.size(), domain_->block().all().size(), [&] {
      double of_box = 0;
      if (plain_)
        plain_sweep(streams_.compute(), in, out, box, on_the_way(norm), &of_box);
      else
        of_box = sweep_in_rows(streams_.compute(), in, out, box, on_the_way(norm), shape, pass_room_);
      return of_box;
    });
    norm_part_ = norm == Norm::max ? std::max(norm_part_, part) : norm_part_ + part;
  };
  const auto queue = [&](const auto& sweep) { // nvcc takes no pointers to members here
    const ScopedTimer timed(compute_, 0);
    sweep(*device_sweep_, on_the_way(norm));
  };
  {
    const ScopedTimer timed(compute_, 0);
    wrap(from);
  }
  if constexpr (on_device)
    stepping::exchange_and_compute(
        streams_, halo, overlap_,
        [&](const auto& i) { queue([&](auto& boxes, Norm part) { boxes.interior(i, in, out, part); }); },
        [&](const auto& i) { queue([&](auto& boxes, Norm part) { boxes.strips(i, in, out, part); }); },
        [&](const auto& i) {
          if (sweeps == 1) return queue([&](auto& boxes, Norm part) { boxes.all(i, in, out, part); });
          for (int field = from, left = sweeps; left > 0; field = 1 - field) {
            const int of_kernel = shape_.next_kernel(left);
            left -= of_kernel;
            queue([&](auto& boxes, Norm) {
              boxes.with_margin(i, domain_->input(field), domain_->field(1 - field), left, of_kernel, shape_.rows);
            });
          }
        });
  else
    stepping::exchange_and_compute(
        streams_, halo, overlap_, [&](const auto&) { compute(regions_.interior); },
        [&](const auto&) { std::ranges::for_each(regions_.strips, compute); },
        [&](const auto&) { compute(domain_->block().all()); });
}

template <class T>
void Sweeper<T>::hand_in_halo_times() {
  timers_.add(halos_.times());
  forget_halo_times();
}

template <class T>
void Sweeper<T>::forget_halo_times() {
  halos_.reset_times();
}

template class Sweeper<float>;
template class Sweeper<double>;

} // namespace kontor::heat
