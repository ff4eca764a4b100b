// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/communicator.hpp>
#include <kontor/comm/communicator/internals.hpp>
#include <kontor/comm/views/datatype.hpp>
#include <kontor/comm/views/layout.hpp>
#include <kontor/comm/views/pack.hpp>
#include <kontor/comm/views/pinned_pool.hpp>
#include <kontor/comm/views/view_buffer.hpp>
#include <kontor/device/compat.hpp>

#include <cstdint>
#include <string>

namespace kontor::comm::detail {

/// Throws CallError: packing is 'none' and the View does not lie in one piece.
[[noreturn]] void refuse_strided(const char* operation, const Buffer&);

enum class Copy : std::uint8_t { from_view, to_view };

/// Copies the elements of a View to memory in one piece or back. Queued on the instance, one work item an
/// element.
template <Copy direction, class T, class ExecutionSpace>
void copy_nest(const ExecutionSpace& instance, T* strided, T* packed, const LoopNest& nest,
               std::int64_t count) {
  Kokkos::parallel_for(
      direction == Copy::from_view ? "comm/pack" : "comm/unpack",
      Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<std::int64_t>>(instance, 0, count),
      KOKKOS_LAMBDA(std::int64_t i) {
        std::int64_t offset = 0;
        std::int64_t rest = i;
        for (int d = nest.depth - 1; d >= 0; --d) {
          offset += rest % nest.extents[d] * nest.strides[d];
          rest /= nest.extents[d];
        }
        T& of_view = strided[offset];
        T& in_one_piece = packed[i];
        if constexpr (direction == Copy::from_view)
          copy_element(in_one_piece, of_view);
        else
          copy_element(of_view, in_one_piece);
      });
}

/// Who is handed a View in device memory.
enum class Taker : std::uint8_t {
  mpi,   ///< device memory on path `direct`, else pinned memory
  host,  ///< pinned memory, whatever the path: Open MPI has no such call for device memory
  stream ///< device memory, in the order of the instance: nothing waits
};

/// The elements of a View in device memory in one piece, in the order in which they lie, where the taker can
/// read and write them: the View's own memory, or a copy in device or pinned memory.
template <ViewType View>
class DeviceMemory {
 public:
  using value_type = typename View::non_const_value_type;
  using Space = typename View::execution_space;

  /// Not `used`: the View is not looked at.
  DeviceMemory(const Communicator& comm, const char* operation, const View& view, const Space* instance,
               Taker taker = Taker::mpi, bool used = true)
      : instance_(instance ? *instance : Space()), taker_(taker),
        count_(static_cast<std::int64_t>(view.size())) {
    if (!used) return;
    const auto shape = shape_of(view);
    const auto order = storage_order(shape);
    const bool strided = !is_contiguous(shape, order);
    if (strided && comm.options().packing == Packing::none) refuse_strided(operation, to_buffer(view));
    place(comm, view, order, strided);
  }

  /// In another order than that in which they lie.
  DeviceMemory(const Communicator& comm, const View& view, const WireOrder& order, const Space* instance)
      : instance_(instance ? *instance : Space()), count_(static_cast<std::int64_t>(view.size())) {
    place(comm, view, order, !is_contiguous(shape_of(view), order));
  }

  value_type* data() const { return data_; }
  mpi::Payload payload() const { return mpi::payload(count_, scalar_of<value_type>()); }
  const Space& instance() const { return instance_; }

  /// What MPI or the stream reads is what the instance has written until now.
  void pack(const View& view) const {
    if (copied_) copy_nest<Copy::from_view>(instance_, data_of(view), data_, nest_, count_);
    if (taker_ != Taker::stream) device::fence(instance_, "comm/packed");
  }
  /// The View is valid for what any instance is given from now on; from the stream, for this one.
  void unpack(const View& view) const {
    if (!copied_) return;
    copy_nest<Copy::to_view>(instance_, data_of(view), data_, nest_, count_);
    device::fence(instance_, "comm/unpacked"); // the copy may be used for something else
  }
  /// Before something is written there that pack() has not prepared.
  void prepare() const {
    if (!copied_ && data_ && taker_ != Taker::stream) device::fence(instance_, "comm/ready");
  }

 private:
  using Device = Kokkos::View<value_type*, typename View::memory_space>;

  void place(const Communicator& comm, const View& view, const WireOrder& order, bool strided) {
    const bool on_device = taker_ == Taker::stream ||
                           (taker_ == Taker::mpi && detail::internals(comm).hands_device_memory_to_mpi());
    data_ = data_of(view);
    if (on_device && !strided) return;
    copied_ = true;
    nest_ = loop_nest(shape_of(view), order);
    if (on_device) {
      const auto properties = Kokkos::view_alloc(std::string("comm/packed"), Kokkos::WithoutInitializing);
      device_ = Device(properties, static_cast<std::size_t>(count_));
      data_ = data_of(device_);
    } else {
      pinned_ =
          detail::internals(comm).pinned_pool().take(static_cast<std::size_t>(count_) * sizeof(value_type));
      data_ = reinterpret_cast<value_type*>(pinned_.data());
    }
  }

  Space instance_;
  Taker taker_ = Taker::mpi;
  value_type* data_ = nullptr;
  std::int64_t count_;
  bool copied_ = false;
  LoopNest nest_;
  Device device_;
  PinnedPool::Block pinned_;
};

} // namespace kontor::comm::detail
