// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "grid/regions.hpp"
#include "heat/kernels/columns.hpp"
#include "heat/kernels/plain.hpp"
#include "heat/kernels/tile_pass.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

namespace kontor::heat {

/// The sweeps of one block on a device, prepared: how they are laid over the whole block, over its interior, and over
/// all its strips at a time; and room for their norm.
template <class T>
class DeviceSweep {
 public:
  using ExecutionSpace = typename FieldView<T>::execution_space;
  using MemorySpace = typename FieldView<T>::memory_space;

  /// Local. By the tuned kernel, or by the plain one, a launch and a part of the norm a box.
  /// Passes are of the block with its ghosts.
  DeviceSweep(const Block& block, const grid::Regions& regions, bool plain)
      : deep_block_(block), regions_(regions), plain_(plain), without_norm_(block, regions, false),
        with_norm_(block, regions, true),
        parts_("heat/norm parts", std::max(with_norm_.parts(), 1 + grid::face_count)) {
    for (int margin = 0; margin < block.ghosts; ++margin)
      with_margin_.push_back(shape(block, grid::with_margin(block, margin), false));
  }

  /// Local; these wait for nothing. The norm's parts stay here for leave_norm().
  void all(const ExecutionSpace& instance, const SweepInput<T>& in, const FieldView<T>& out, Norm norm) {
    if (plain_) return plainly(instance, in, out, std::array{in.block.all()}, norm, 0);
    sweep_columns(instance, in, out, shapes(norm).all, norm, parts_.data());
    count_ = with_norm_.all.parts();
  }
  void interior(const ExecutionSpace& instance, const SweepInput<T>& in, const FieldView<T>& out, Norm norm) {
    if (plain_) return plainly(instance, in, out, std::array{regions_.interior}, norm, 0);
    sweep_columns(instance, in, out, shapes(norm).interior, norm, parts_.data());
  }
  void strips(const ExecutionSpace& instance, const SweepInput<T>& in, const FieldView<T>& out, Norm norm) {
    if (plain_) return plainly(instance, in, out, regions_.strips, norm, count_);
    sweep_columns(instance, in, out, shapes(norm).strips, norm, parts_.data() + with_norm_.interior.parts());
    count_ = with_norm_.interior.parts() + with_norm_.strips.parts();
  }

  /// So many sweeps of the block, and of so many cells beyond it where other ranks have cells: what later kernels of a
  /// pass read. Teams have so many rows.
  void with_margin(const ExecutionSpace& instance, const SweepInput<T>& in, const FieldView<T>& out, int margin,
                   int sweeps, int rows) {
    if (sweeps == 1)
      sweep_columns(instance, in, out, with_margin_.at(static_cast<std::size_t>(margin)), Norm::none);
    else
      sweep_tiles(instance, in, out, deep_block_, grid::with_margin(deep_block_, margin), sweeps, rows);
  }

  /// Local; waits for nothing. The next slot = this rank's part of the norm of the sweep just made, all of it before
  /// this on the instance.
  void leave_norm(const ExecutionSpace& instance, Norm norm, const stepping::NormSlots& slots) const {
    combine(instance, parts_.data(), count_, norm, slots);
  }

 private:
  struct Shapes {
    Shapes(const Block& block, const grid::Regions& regions, bool with_norm)
        : all(shape(block, block.all(), with_norm)), interior(shape(block, regions.interior, with_norm)),
          strips(of_strips(block, regions, with_norm)) {}
    int parts() const { return std::max(all.parts(), interior.parts() + strips.parts()); }

    ColumnShape all;
    ColumnShape interior;
    ColumnShapes<MemorySpace> strips;
  };

  static ColumnShape shape(const Block& block, const Box& box, bool with_norm) {
    return column_shape<T>(ExecutionSpace(), box, block.dimensions, usual_tuning<T>(block.dimensions, with_norm));
  }
  static std::vector<ColumnShape> of_strips(const Block& block, const grid::Regions& regions, bool with_norm) {
    std::vector<ColumnShape> shapes;
    for (const auto& strip : regions.strips) shapes.push_back(shape(block, strip, with_norm));
    return shapes;
  }
  const Shapes& shapes(Norm norm) const { return norm == Norm::none ? without_norm_ : with_norm_; }

  /// Parts of the norm go behind the first so many.
  template <class Boxes>
  void plainly(const ExecutionSpace& instance, const SweepInput<T>& in, const FieldView<T>& out, const Boxes& boxes,
               Norm norm, std::int64_t first) {
    count_ = first;
    for (const auto& box : boxes)
      if (!box.empty()) plain_sweep(instance, in, out, box, norm, parts_.data() + count_++);
  }

  Block deep_block_;
  grid::Regions regions_;
  bool plain_;
  Shapes without_norm_;
  Shapes with_norm_;
  std::vector<ColumnShape> with_margin_;
  Kokkos::View<double*, MemorySpace> parts_;
  std::int64_t count_ = 0;
};

} // namespace kontor::heat
