// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "heat/problem/domain.hpp"

#include "grid/process_grid.hpp"
#include "heat/problem/boundary.hpp"
#include "heat/problem/memory.hpp"
#include "machine/memory.hpp"

#include <kontor/device/compat.hpp>

#include <utility>

namespace kontor::heat {
namespace {

using device::Region;

comm::Communicator make_cartesian(const Options& options, const comm::Communicator& comm) {
  std::vector<bool> periodic;
  for (int axis = 0; axis < options.dimensions(); ++axis)
    periodic.push_back(options.faces[2 * axis].condition == Condition::periodic);
  return grid::make_cartesian(comm, options.process_grid, periodic);
}

grid::UniformGrid grid_of(const Options& options) {
  grid::UniformGrid grid{grid::Centering::cells, options.cells, options.lower, {}};
  for (int axis = 0; axis < options.dimensions(); ++axis) grid.spacing.push_back(options.spacing(axis));
  return grid;
}

/// Collective. The rank's block, whose Views fit in memory.
Block make_fitting_block(const Options& options, const comm::Communicator& cartesian) {
  const auto block = grid::make_block(grid_of(options), cartesian);
  miniapp::require_memory(cartesian, views_of_rank(options, block));
  return block;
}

} // namespace

template <class T>
Domain<T>::Domain(const Options& options, const comm::Communicator& comm)
    : options_(options), cartesian_(make_cartesian(options, comm)),
      block_(make_fitting_block(options, cartesian_)), fields_{grid::make_field<T>("heat/u", block_),
                                                               grid::make_field<T>("heat/v", block_)},
      source_(make_source<T>(block_, false)) {
  if (transient()) {
    steps_ = static_cast<std::int64_t>(options.step_count());
    step_ = options.end_time / static_cast<double>(steps_);
  }
  stencil_ = make_stencil<T>(options, block_, step_);
  for (int face = 0; face < 2 * block_.dimensions; ++face) {
    if (options_.faces[face].condition == Condition::periodic) continue;
    grid::DeckFunction value(options_.faces[face].value);
    depends_on_time_ = depends_on_time_ || value.function.uses("t");
    if (block_.at_boundary(face)) boundaries_.push_back({face, std::move(value)});
  }
  grid::DeckFunction source(options_.source);
  if (!source.zero()) {
    source_ = make_source<T>(block_, true);
    depends_on_time_ = depends_on_time_ || source.function.uses("t");
    source_function_.emplace(std::move(source));
    fill_source(0);
  }
  set_initial();
}

template <class T>
void Domain<T>::set_initial() {
  const Region region("heat/initial");
  const auto scratch = grid::as_scratch(fields_[1], block_);
  grid::FiniteCheck finite;
  grid::fill<T>(scratch, block_, grid::DeckFunction(options_.initial), 0, finite);
  grid::copy_values(grid::view_of(fields_[0], block_, block_.all()), scratch);
  for (const auto& boundary : boundaries_)
    for (const int which : {0, 1}) fill_boundary_of(which, boundary, 0, finite);
  finite.agree(cartesian_);
  set_sweeps(0);
}

template <class T>
void Domain<T>::set_time_dependent() {
  grid::FiniteCheck
      finite; // not agreed on: what is not finite here shows in the field, and so in the verification
  for (const auto& boundary : boundaries_)
    if (boundary.function.function.uses("t")) fill_boundary_of(current_, boundary, now(), finite);
  if (source_function_ && source_function_->function.uses("t")) fill_source(now());
}

template <class T>
void Domain<T>::set_sweeps(std::int64_t sweeps) {
  current_ = 0;
  sweeps_ = sweeps;
  last_ = Last::none;
}

template <class T>
void Domain<T>::advance(int sweeps) {
  current_ = (current_ + sweeps) % 2;
  sweeps_ += sweeps;
  last_ = Last::made;
}

template <class T>
void Domain<T>::step_back() {
  current_ = 1 - current_;
  --sweeps_;
  last_ = Last::taken_back;
}

template <class T>
std::optional<typename Domain<T>::LastSweep> Domain<T>::last_sweep() const {
  if (last_ == Last::none) return std::nullopt;
  if (last_ == Last::taken_back) return LastSweep{current_, 1 - current_, sweeps_};
  return LastSweep{1 - current_, current_, sweeps_ - 1};
}

template <class T>
double Domain<T>::cells() const {
  return static_cast<double>(block_.global[0] * block_.global[1] * block_.global[2]);
}

template <class T>
grid::ValuesOnHost<T> Domain<T>::current_on_host() const {
  device::fence(typename FieldView<T>::execution_space(), "heat/current");
  const auto host =
      Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), fields_[current_], "heat/field on host");
  return grid::view_of(host, block_, block_.all());
}

template <class T>
void Domain<T>::refill_boundaries(int which, double t) const {
  grid::FiniteCheck finite;
  for (const auto& boundary : boundaries_) fill_boundary_of(which, boundary, t, finite);
}

template <class T>
void Domain<T>::refill_source(double t) {
  if (source_function_) fill_source(t);
}

template <class T>
void Domain<T>::fill_boundary_of(int which, const BoundaryFunction& boundary, double t,
                                 grid::FiniteCheck& finite) const {
  fill_boundary(fields_[which], block_, boundary.face, options_.faces[boundary.face], boundary.function, t,
                finite);
}

template <class T>
void Domain<T>::fill_source(double t) {
  grid::FiniteCheck finite;
  grid::fill<T>(source_, block_, *source_function_, t, finite);
  finite.agree(cartesian_);
}

template class Domain<float>;
template class Domain<double>;

} // namespace kontor::heat
