// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/views/datatype.hpp>
#include <kontor/comm/views/pack.hpp>
#include <kontor/comm/views/pinned_pool.hpp>
#include <kontor/comm/views/view_buffer.hpp>
#include <kontor/device/compat.hpp>

#include <cstdint>
#include <memory>
#include <type_traits>

/// How the one-shot calls hand a View to MPI: pointer, count and datatype.
namespace kontor::comm::detail {

/// Who reads and writes the elements.
enum class AccessibleTo : std::uint8_t {
  mpi,   ///< device memory where Lowering::direct, else pinned memory
  host,  ///< pinned memory, whatever the path: Open MPI has no such call for device memory
  stream ///< device memory, in the order of the instance: nothing waits
};

/// Throws CallError: packing is 'none' and the View does not lie in one piece.
[[noreturn]] void refuse_strided(const char* operation, const Buffer&);

/// Elements in one piece: the View's own memory, or a copy.
class LoweredElements {
 public:
  LoweredElements() = default;
  void* data() const { return data_; }
  std::int64_t count() const { return count_; }
  mpi::Payload payload() const { return mpi::payload(count_, scalar_); }

 protected:
  LoweredElements(void* data, std::int64_t count, Scalar scalar) : data_(data), count_(count), scalar_(scalar) {}
  void* data_ = nullptr;
  std::int64_t count_ = 0;
  Scalar scalar_;
};

/// Of a View in host memory. A contiguous one costs nothing; a copy costs memory, and one kernel at each pack() and
/// unpack().
class LoweredHost : public LoweredElements {
 public:
  LoweredHost(void* data, std::int64_t count, Scalar scalar, const void* /*instance*/, AccessibleTo)
      : LoweredElements(data, count, scalar) {}
  /// Local. Throws CallError where packing is 'none' and the View does not lie in one piece.
  void place(const Lowering&, const char* operation, const Buffer& view);
  /// Local. Elements in any order, which packing 'none' takes, too.
  void place(const Lowering&, const Buffer& view, const WireOrder&);

  /// Fills the copy, if there is one, from the View.
  void pack() const {
    if (copy_) [[unlikely]]
      copy(PackDirection::pack);
  }
  /// Fills the View from the copy, if there is one.
  void unpack() const {
    if (copy_) [[unlikely]]
      copy(PackDirection::unpack);
  }
  /// Without the fence, which may be one for several. Whether there is something to wait for.
  bool queue_pack() const { return copy_ && (queue(PackDirection::pack), true); }
  bool queue_unpack() const { return copy_ && (queue(PackDirection::unpack), true); }
  /// Before something is written there that pack() has not prepared.
  void prepare() const {}

 private:
  struct Copy;
  void queue(PackDirection) const;
  void copy(PackDirection) const;
  std::shared_ptr<const Copy> copy_;
};

/// Of a View in device memory, in memory that MPI or the stream can access.
template <class ExecutionSpace>
class LoweredDevice : public LoweredElements {
 public:
  LoweredDevice(void* data, std::int64_t count, Scalar scalar, const ExecutionSpace* instance,
                AccessibleTo accessible_to)
      : LoweredElements(data, count, scalar), instance_(instance ? *instance : ExecutionSpace()),
        accessible_to_(accessible_to) {}

  void place(const Lowering& how, const char* operation, const Buffer& view) {
    const auto order = storage_order(view.shape);
    if (how.packing == Packing::none && !is_contiguous(view.shape, order)) refuse_strided(operation, view);
    place(how, view, order);
  }
  void place(const Lowering& how, const Buffer& view, const WireOrder& order) {
    const bool on_device =
        accessible_to_ == AccessibleTo::stream || (accessible_to_ == AccessibleTo::mpi && how.direct);
    if (on_device && is_contiguous(view.shape, order)) return;
    const auto bytes = static_cast<std::size_t>(count_) * scalar_.size;
    if (on_device) {
      const auto properties = Kokkos::view_alloc(std::string("comm/packed"), Kokkos::WithoutInitializing);
      device_ = Device(properties, bytes);
      data_ = device_.data();
    } else {
      pinned_ = how.pool->take(bytes);
      data_ = pinned_.data();
    }
    piece_ = {view.data, data_, loop_nest(view.shape, order), scalar_.size};
  }

  /// What MPI or the stream reads is what the instance has written until now.
  void pack() const {
    queue_pack();
    if (accessible_to_ != AccessibleTo::stream) device::fence(instance_, "comm/packed");
  }
  /// The View is valid for what any instance is given from now on; from the stream, for this one.
  void unpack() const {
    if (queue_unpack()) device::fence(instance_, "comm/unpacked"); // the copy may be used for something else
  }
  /// Without the fence, which may be one for several. Whether there is something to wait for.
  bool queue_pack() const {
    if (copied()) copy_piece<PackDirection::pack>(instance_, piece_);
    return true;
  }
  bool queue_unpack() const {
    if (copied()) copy_piece<PackDirection::unpack>(instance_, piece_);
    return copied();
  }
  /// Before something is written there that pack() has not prepared.
  void prepare() const {
    if (!copied() && data_ && accessible_to_ != AccessibleTo::stream) device::fence(instance_, "comm/ready");
  }

 private:
  using Device = Kokkos::View<unsigned char*, typename ExecutionSpace::memory_space>;
  bool copied() const { return piece_.packed != nullptr; }

  ExecutionSpace instance_;
  AccessibleTo accessible_to_;
  Piece piece_;
  Device device_;
  PinnedPool::Block pinned_;
};

template <ViewType View>
using LoweredIn = std::conditional_t<memory_of<View>() == MemoryKind::host, LoweredHost,
                                     LoweredDevice<typename View::execution_space>>;

/// Local. The elements of a View in one piece, in the order in which they lie. `used`: this rank reads or writes the
/// View; else nobody looks at it. Throws CallError where packing is 'none' and it does not lie in one piece.
template <ViewType View>
LoweredIn<View> lower(const Lowering& how, const char* operation, const View& view,
                      const typename View::execution_space* instance, AccessibleTo accessible_to = AccessibleTo::mpi,
                      bool used = true) {
  LoweredIn<View> memory(data_of(view), static_cast<std::int64_t>(view.size()),
                         scalar_of<typename View::non_const_value_type>(), instance, accessible_to);
  const bool as_it_lies = memory_of<View>() == MemoryKind::host && view.span_is_contiguous();
  if (used && !as_it_lies) [[unlikely]]
    memory.place(how, operation, to_buffer(view));
  return memory;
}

} // namespace kontor::comm::detail
