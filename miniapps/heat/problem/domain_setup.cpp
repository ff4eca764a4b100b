// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "grid/functions.hpp"
#include "grid/layers.hpp"
#include "grid/process_grid.hpp"
#include "grid/wrap.hpp"
#include "heat/problem/domain.hpp"
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
  const auto block = grid::make_block(grid_of(options), cartesian, options.sweeps_of_pass(), grid::Wrapping::by_kernel);
  miniapp::require_memory(cartesian, bytes_of_rank(options, block));
  return block;
}

/// Local, waits for the copy. The ghost cells before a boundary face, from the face's value g or q at time t and the
/// centres of the cells' faces: 2 g (Dirichlet) or h q (Neumann); see Stencil.
template <class T>
void fill_boundary(const FieldView<T>& field, const Block& block, int face, const Face& condition,
                   const grid::DeckFunction& f, double t, grid::FiniteCheck& finite) {
  const auto box = ghost_layer(block, grid::across(face));
  const auto ghosts = grid::view_of(field, block, box);
  const int axis = face / 2;
  const T factor = condition.condition == Condition::neumann ? static_cast<T>(block.spacing[axis]) : T(2);

  const HostBlockView<T> values("heat/boundary", ghosts.extent(0), ghosts.extent(1), ghosts.extent(2));
  const auto on_face = [&](int a, std::int64_t index) {
    return a == axis ? block.face(a, face % 2 == 0 ? 0 : block.extents[a]) : block.coordinate(a, index);
  };
  std::vector<double> x;
  for (auto i = box.begin[0]; i < box.end[0]; ++i) x.push_back(on_face(0, i));
  std::vector<double> of_row(x.size());
  for (auto k = box.begin[2]; k < box.end[2]; ++k) {
    for (auto j = box.begin[1]; j < box.end[1]; ++j) {
      const double y = on_face(1, j);
      const double z = on_face(2, k);
      f.evaluate(x, y, z, t, of_row, finite);
      for (std::size_t i = 0; i < x.size(); ++i)
        values(k - box.begin[2], j - box.begin[1], i) = factor * static_cast<T>(of_row[i]);
    }
  }
  grid::copy_values(ghosts, Kokkos::create_mirror_view_and_copy(typename FieldView<T>::memory_space(), values));
}

} // namespace

template <class T>
struct Domain<T>::Functions {
  struct OfFace {
    int face;
    grid::DeckFunction value;
  };

  std::optional<grid::DeckFunction> source; ///< none: 0
  std::vector<OfFace> of_faces;             ///< of the boundary that this rank's block has

  bool source_changes() const { return source && source->function.uses("t"); }
  /// Ghosts of a field of this domain; `changing`: only where the value depends on time.
  void fill_boundaries(const Domain& domain, int field, double t, grid::FiniteCheck& finite, bool changing) const {
    for (const auto& [face, value] : of_faces)
      if (!changing || value.function.uses("t"))
        fill_boundary(domain.field(field), domain.block(), face, domain.options().faces[face], value, t, finite);
  }
};

template <class T>
Domain<T>::Domain(const Options& options, const comm::Communicator& comm)
    : options_(options), cartesian_(make_cartesian(options, comm)),
      deep_block_(make_fitting_block(options, cartesian_)),
      block_(deep_block_), deep_fields_{grid::make_field<T>("heat/u", deep_block_),
                                        grid::make_field<T>("heat/v", deep_block_)},
      fields_{grid::with_one_ghost<T>(deep_fields_[0], deep_block_),
              grid::with_one_ghost<T>(deep_fields_[1], deep_block_)},
      source_(make_source<T>(block_, false)), functions_(std::make_shared<Functions>()) {
  block_.ghosts = 1;
  if (transient()) {
    steps_ = static_cast<std::int64_t>(options.step_count());
    step_ = options.end_time / static_cast<double>(steps_);
  }
  stencil_ = make_stencil<T>(options, block_, step_);
  for (int face = 0; face < 2 * block_.dimensions; ++face) {
    if (options_.faces[face].condition == Condition::periodic) continue;
    grid::DeckFunction value(options_.faces[face].value);
    depends_on_time_ = depends_on_time_ || value.function.uses("t");
    if (block_.at_boundary(face)) functions_->of_faces.push_back({face, std::move(value)});
  }
  grid::DeckFunction source(options_.source);
  if (!source.zero()) {
    make_deep_source();
    depends_on_time_ = depends_on_time_ || source.function.uses("t");
    functions_->source.emplace(std::move(source));
    fill_source(0);
  }
  set_initial();
}

template <class T>
void Domain<T>::set_initial() {
  const Region region("heat/initial");
  grid::FiniteCheck finite;
  grid::fill_field(fields_[0], block_, grid::DeckFunction(options_.initial), 0, finite);
  for (const int which : {0, 1}) functions_->fill_boundaries(*this, which, 0, finite, false);
  finite.agree(cartesian_);
  set_sweeps(0);
}

template <class T>
void Domain<T>::set_time_dependent() {
  grid::FiniteCheck finite; // not agreed on: what is not finite here shows in the field, and so in the verification
  functions_->fill_boundaries(*this, current(), now(), finite, true);
  if (functions_->source_changes()) fill_source(now());
}

template <class T>
double Domain<T>::cells() const {
  return static_cast<double>(block_.global[0] * block_.global[1] * block_.global[2]);
}

template <class T>
grid::ValuesOnHost<T> Domain<T>::current_on_host() const {
  device::fence(typename FieldView<T>::execution_space(), "heat/current");
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), fields_[current()], "heat/field on host");
  return grid::view_of(host, block_, block_.all());
}

template <class T>
void Domain<T>::refill_boundaries(int which, double t) const {
  grid::FiniteCheck finite;
  functions_->fill_boundaries(*this, which, t, finite, false);
}

template <class T>
void Domain<T>::fill_source(double t) {
  if (!functions_->source) return;
  const auto own = deep_source_.size() > 0 ? make_source<T>(block_, true) : source_;
  grid::FiniteCheck finite;
  grid::fill<T>(own, block_, *functions_->source, t, finite);
  finite.agree(cartesian_);
  if (deep_source_.size() == 0) return;
  grid::copy_values(grid::view_of(deep_source_, deep_block_, block_.all()), own);
  auto halo = grid::make_halo(cartesian_, halo_slots(), deep_block_, deep_source_, "heat/source of other ranks");
  halo.start();
  halo.finish();
  grid::wrap(typename FieldView<T>::execution_space(), deep_source_, deep_block_);
  device::fence(typename FieldView<T>::execution_space(), "heat/source");
}

/// A pass reads that of cells of other ranks, too.
template <class T>
void Domain<T>::make_deep_source() {
  source_ = make_source<T>(block_, true);
  if (deep_block_.ghosts == 1) return;
  deep_source_ = grid::make_field<T>("heat/source", deep_block_);
  const auto before = grid::padding<T>(deep_block_);
  source_ = BlockView<T>(grid::address(deep_source_, before[2], before[1], before[0]), block_.extents[2],
                         block_.dimensions == 3 ? deep_source_.extent(1) : block_.extents[1], deep_source_.extent(2));
}

template <class T>
std::vector<grid::HaloSlot> Domain<T>::halo_slots() const {
  const int dimensions = block_.dimensions;
  if (deep_block_.ghosts == 1) return grid::halo_slots(cartesian_, block_, grid::across_faces(dimensions));
  // Other ranks compute cells near this one's boundary faces, too, so that ghosts before these travel along.
  const auto directions = grid::across_all(dimensions);
  auto slots = grid::halo_slots(cartesian_, deep_block_, directions);
  for (std::size_t s = 0; s < slots.size(); ++s)
    for (int axis = 0; axis < dimensions; ++axis)
      for (auto* const box : {&slots[s].sent, &slots[s].received}) {
        if (directions[s][axis] != 0) continue;
        if (block_.at_boundary(2 * axis)) --box->begin[axis];
        if (block_.at_boundary(2 * axis + 1)) ++box->end[axis];
      }
  return slots;
}

template class Domain<float>;
template class Domain<double>;

} // namespace kontor::heat
