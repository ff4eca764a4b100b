// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "heat/march.hpp"

#include <vector>

namespace kontor::heat {

/// The sweeps of one block on a device, prepared: how they are laid over the whole block, over its interior,
/// and over all its strips at a time; and room for their norm.
template <class T>
class DeviceSweep {
 public:
  using ExecutionSpace = typename FieldView<T>::execution_space;
  using MemorySpace = typename FieldView<T>::memory_space;

  /// Local.
  DeviceSweep(const Block& block, const Regions& regions)
      : all_(shape(block, block.all())), interior_(shape(block, regions.interior)),
        strips_(shapes(block, regions)),
        parts_("heat/norm parts", std::max(all_.parts(), interior_.parts() + strips_.parts())) {}

  /// Local; these wait for nothing. The norm's parts stay here for leave_norm().
  void all(const ExecutionSpace& instance, const SweepInput<T>& in, const FieldView<T>& out, SweepNorm norm) {
    march(instance, in, out, all_, norm, parts_.data());
    count_ = all_.parts();
  }
  void interior(const ExecutionSpace& instance, const SweepInput<T>& in, const FieldView<T>& out,
                SweepNorm norm) {
    march(instance, in, out, interior_, norm, parts_.data());
  }
  void strips(const ExecutionSpace& instance, const SweepInput<T>& in, const FieldView<T>& out,
              SweepNorm norm) {
    march(instance, in, out, strips_, norm, parts_.data() + interior_.parts());
    count_ = interior_.parts() + strips_.parts();
  }

  /// Local; waits for nothing. The next slot = this rank's part of the norm of the sweep just made, all of it
  /// before this on the instance.
  void leave_norm(const ExecutionSpace& instance, SweepNorm norm, const NormSlots& slots) const {
    combine(instance, parts_.data(), count_, norm, slots);
  }

 private:
  static MarchShape shape(const Block& block, const Box& box) {
    return march_shape<T>(ExecutionSpace(), box, block.dimensions, usual_tuning(block.dimensions));
  }
  static std::vector<MarchShape> shapes(const Block& block, const Regions& regions) {
    std::vector<MarchShape> shapes;
    for (const auto& strip : regions.strips) shapes.push_back(shape(block, strip));
    return shapes;
  }

  MarchShape all_;
  MarchShape interior_;
  MarchShapes<MemorySpace> strips_;
  Kokkos::View<double*, MemorySpace> parts_;
  std::int64_t count_ = 0;
};

} // namespace kontor::heat
