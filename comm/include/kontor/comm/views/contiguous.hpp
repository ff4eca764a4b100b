// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/communicator.hpp>
#include <kontor/comm/views/concepts.hpp>
#include <kontor/comm/views/datatype.hpp>
#include <kontor/comm/views/device_memory.hpp>
#include <kontor/comm/views/layout.hpp>
#include <kontor/comm/views/pack.hpp>
#include <kontor/comm/views/view_buffer.hpp>

#include <optional>
#include <string>
#include <type_traits>

/// How the one-shot calls hand a View to MPI: pointer, count and datatype.
namespace kontor::comm::detail {

/// What a View without its type is.
using Describe = Buffer (*)(const void* view);
template <ViewType View>
Buffer describe_view(const void* view) {
  return to_buffer(*static_cast<const View*>(view));
}

/// The elements of a View in host memory in one piece, in the order in which they lie: the View's own memory,
/// or a copy where it is strided. Knows the View's scalar only, so that it is compiled for few types.
template <class T>
class HostElements {
 public:
  T* data() const { return data_; }
  mpi::Payload payload() const { return mpi::payload(count_, scalar_of<T>()); }
  /// Before something is written there that pack() has not prepared.
  void prepare() const {}

 protected:
  using Packer = Kokkos::DefaultHostExecutionSpace;
  using Packs = PackList<T, Packer>;

  HostElements(T* data, std::int64_t count) : data_(data), count_(count) {}

  void make_copy(const Communicator& comm, const char* operation, const Shape& shape, const void* view,
                 Describe describe) {
    const auto order = storage_order(shape);
    if (is_contiguous(shape, order)) return; // Kokkos does not see through extents of 1
    if (comm.options().packing == Packing::none) refuse_strided(operation, describe(view));
    make_copy(order);
  }

  void make_copy(const WireOrder& order) {
    const auto properties = Kokkos::view_alloc(std::string("comm/packed"), Kokkos::WithoutInitializing);
    copy_.emplace(Copied{Memory(properties, static_cast<std::size_t>(count_)), order});
    data_ = data_of(copy_->memory);
  }

  bool copied() const { return copy_.has_value(); }

  /// From the View to the copy, or back.
  template <typename Packs::Direction direction>
  void run(T* view, const Shape& shape) const {
    Packs packs;
    packs.add(view, data_, loop_nest(shape, copy_->order));
    packs.commit();
    const Packer instance;
    packs.template run<direction>(instance);
    device::fence(instance, "comm/packed");
  }

 private:
  using Memory = Kokkos::View<T*, Kokkos::HostSpace>;
  struct Copied {
    Memory memory;
    WireOrder order;
  };
  T* data_;
  std::int64_t count_;
  std::optional<Copied> copy_;
};

/// Only the copy costs: memory, and one kernel at each pack() and unpack().
template <ViewType View>
class HostMemory : public HostElements<typename View::non_const_value_type> {
  using Elements = HostElements<typename View::non_const_value_type>;

 public:
  using Space = typename View::execution_space;

  /// Not `used`: the View is not looked at.
  HostMemory(const Communicator& comm, const char* operation, const View& view, const Space* /*instance*/,
             Taker /*taker*/ = Taker::mpi, bool used = true)
      : Elements(data_of(view), static_cast<std::int64_t>(view.size())) {
    if (!view.span_is_contiguous() && used) [[unlikely]]
      this->make_copy(comm, operation, shape_of(view), &view, describe_view<View>);
  }

  /// In another order than that in which they lie.
  HostMemory(const Communicator& /*comm*/, const View& view, const WireOrder& order,
             const Space* /*instance*/)
      : Elements(data_of(view), static_cast<std::int64_t>(view.size())) {
    if (!is_contiguous(shape_of(view), order)) Elements::make_copy(order);
  }

  /// Fills the copy, if there is one, from the View.
  void pack(const View& view) const {
    if (this->copied()) [[unlikely]]
      this->template run<Elements::Packs::Direction::pack>(data_of(view), shape_of(view));
  }
  /// Fills the View from the copy, if there is one.
  void unpack(const View& view) const {
    if (this->copied()) [[unlikely]]
      this->template run<Elements::Packs::Direction::unpack>(data_of(view), shape_of(view));
  }
};

/// The elements of a View in one piece.
template <ViewType View>
using Contiguous =
    std::conditional_t<memory_of<View>() == MemoryKind::host, HostMemory<View>, DeviceMemory<View>>;

} // namespace kontor::comm::detail
