// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/backend/layout.hpp>
#include <kontor/comm/backend/mpi_datatype.hpp>
#include <kontor/comm/communicator.hpp>
#include <kontor/comm/detail/device_memory.hpp>
#include <kontor/comm/detail/pack.hpp>
#include <kontor/comm/detail/view_buffer.hpp>
#include <kontor/comm/detail/view_concepts.hpp>

#include <optional>
#include <string>
#include <type_traits>

/// How the one-shot calls hand a View to MPI: pointer, count and datatype.
namespace kontor::comm::detail {

/// The elements of a View in host memory in one piece, in the order in which they lie: the View's own memory,
/// or a copy where it is strided. Only the copy costs: memory, and one kernel at each pack() and unpack().
template <ViewType View>
class HostMemory {
 public:
  using value_type = typename View::non_const_value_type;
  using Space = typename View::execution_space;

  HostMemory(const Communicator& comm, const char* operation, const View& view, const Space* /*instance*/,
             Taker /*taker*/ = Taker::mpi, bool /*used*/ = true)
      : data_(data_of(view)), count_(static_cast<std::int64_t>(view.size())) {
    if (!view.span_is_contiguous()) [[unlikely]]
      make_copy(comm, operation, view);
  }

  /// In another order than that in which they lie.
  HostMemory(const Communicator& /*comm*/, const View& view, const WireOrder& order,
             const Space* /*instance*/)
      : data_(data_of(view)), count_(static_cast<std::int64_t>(view.size())) {
    if (!is_contiguous(shape_of(view), order)) make_copy(order);
  }

  value_type* data() const { return data_; }
  mpi::Payload payload() const { return mpi::payload(count_, scalar_of<value_type>()); }

  /// Fills the copy, if there is one, from the View.
  void pack(const View& view) const { run<Packs::Direction::pack>(view); }
  /// Fills the View from the copy, if there is one.
  void unpack(const View& view) const { run<Packs::Direction::unpack>(view); }
  /// Before something is written there that pack() has not prepared.
  void prepare() const {}

 private:
  using Packer = Kokkos::DefaultHostExecutionSpace;
  using Packs = PackList<value_type, Packer>;

  void make_copy(const Communicator& comm, const char* operation, const View& view) {
    const auto shape = shape_of(view);
    const auto order = storage_order(shape);
    if (is_contiguous(shape, order)) return; // Kokkos does not see through extents of 1
    if (comm.options().packing == Packing::none) refuse_strided(operation, to_buffer(view));
    make_copy(order);
  }

  void make_copy(const WireOrder& order) {
    const auto properties = Kokkos::view_alloc(std::string("comm/packed"), Kokkos::WithoutInitializing);
    copy_.emplace(Copied{Memory(properties, static_cast<std::size_t>(count_)), order});
    data_ = data_of(copy_->memory);
  }

  template <typename Packs::Direction direction>
  void run(const View& view) const {
    if (!copy_) [[likely]]
      return;
    Packs packs;
    packs.add(data_of(view), data_, loop_nest(shape_of(view), copy_->order));
    packs.commit();
    const Packer instance;
    packs.template run<direction>(instance);
    fence(instance, "comm/packed");
  }

  using Memory = Kokkos::View<value_type*, Kokkos::HostSpace>;
  struct Copied {
    Memory memory;
    WireOrder order;
  };
  value_type* data_;
  std::int64_t count_;
  std::optional<Copied> copy_;
};

/// The elements of a View in one piece.
template <ViewType View>
using Contiguous =
    std::conditional_t<memory_of<View>() == MemoryKind::host, HostMemory<View>, DeviceMemory<View>>;

} // namespace kontor::comm::detail
