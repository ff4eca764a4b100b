// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/views/datatype.hpp>
#include <kontor/comm/views/executor.hpp>
#include <kontor/comm/views/pinned_pool.hpp>
#include <kontor/comm/views/view_buffer.hpp>
#include <kontor/device/compat.hpp>

#include <cstdint>
#include <memory>
#include <type_traits>

/// How messages, collectives and reductions hand a View to MPI or to a stream: pointer, count and datatype.
namespace kontor::comm::detail {

/// Who reads and writes the elements.
enum class AccessibleTo : std::uint8_t {
  mpi,   ///< device memory where Lowering::direct, else pinned memory
  host,  ///< pinned memory, whatever the path: Open MPI has no such call for device memory
  stream ///< device memory, in the order of the instance: nothing waits
};

/// Local. The order in which the elements lie. Throws CallError where packing is 'none' and they are not contiguous.
WireOrder lowered_order(const Lowering&, const char* operation, const Buffer&);

/// Elements in one piece: the View's own memory, or a copy.
class Lowered {
 public:
  Lowered() = default;
  Lowered(void* data, std::int64_t count, Scalar scalar) : data_(data), count_(count), scalar_(scalar) {}

  /// Local. Makes memory for a copy, unless the View's own is `accessible` and contiguous in that order. The copy lies
  /// in memory of the pool or, if that is null, of the executor's space.
  void place(const Executor&, const Buffer& view, const WireOrder&, bool accessible, PinnedPool*);
  bool copied() const { return copy_ != nullptr; }
  /// Queues what fills the copy or writes it back, if there is one.
  void queue(const Executor&, PackDirection) const;

  void* data() const { return data_; }
  std::int64_t count() const { return count_; }
  mpi::Payload payload() const { return mpi::payload(count_, scalar_); }

 private:
  struct Copy;
  void* data_ = nullptr;
  std::int64_t count_ = 0;
  Scalar scalar_;
  std::shared_ptr<const Copy> copy_;
};

/// Of a View in host memory. A contiguous one costs nothing; a copy costs memory, and one kernel at each pack() and
/// unpack().
class LoweredHost : public Lowered {
 public:
  LoweredHost(void* data, std::int64_t count, Scalar scalar, const void* /*instance*/, AccessibleTo)
      : Lowered(data, count, scalar) {}
  /// Local.
  void place(const Lowering&, const Buffer& view, const WireOrder&);

  /// Fills the copy, if there is one, from the View.
  void pack() const {
    if (copied()) [[unlikely]]
      copy(PackDirection::pack);
  }
  /// Fills the View from the copy, if there is one.
  void unpack() const {
    if (copied()) [[unlikely]]
      copy(PackDirection::unpack);
  }
  /// Without the fence, which may be one for several. Whether there is something to wait for.
  bool queue_pack() const { return queue(PackDirection::pack); }
  bool queue_unpack() const { return queue(PackDirection::unpack); }
  /// Before something is written there that pack() has not prepared.
  void prepare() const {}

 private:
  bool queue(PackDirection) const;
  void copy(PackDirection) const;
};

/// Of a View in device memory, in memory that MPI or the stream can access.
template <class ExecutionSpace>
class LoweredDevice : public Lowered {
 public:
  LoweredDevice(void* data, std::int64_t count, Scalar scalar, const ExecutionSpace* instance,
                AccessibleTo accessible_to)
      : Lowered(data, count, scalar), instance_(instance ? *instance : ExecutionSpace()),
        accessible_to_(accessible_to) {}

  void place(const Lowering& how, const Buffer& view, const WireOrder& order) {
    const bool on_device =
        accessible_to_ == AccessibleTo::stream || (accessible_to_ == AccessibleTo::mpi && how.direct);
    Lowered::place(*executor_of(instance_), view, order, on_device, on_device ? nullptr : how.pool);
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
    if (copied()) queue(*executor_of(instance_), PackDirection::pack);
    return true;
  }
  bool queue_unpack() const {
    if (copied()) queue(*executor_of(instance_), PackDirection::unpack);
    return copied();
  }
  /// Before something is written there that pack() has not prepared.
  void prepare() const {
    if (!copied() && data() && accessible_to_ != AccessibleTo::stream) device::fence(instance_, "comm/ready");
  }

 private:
  ExecutionSpace instance_;
  AccessibleTo accessible_to_;
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
  if (used && !as_it_lies) [[unlikely]] {
    const auto buffer = to_buffer(view);
    memory.place(how, buffer, lowered_order(how, operation, buffer));
  }
  return memory;
}

} // namespace kontor::comm::detail
