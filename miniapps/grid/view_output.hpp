// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/device/compat.hpp>
#include <kontor/output/file.hpp>
#include <kontor/output/reader.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <string>
#include <utility>

/// Views into the output file and back, 16 MiB at a time.
namespace kontor::grid {

namespace detail {

/// A box of a View of rank 1 to 3.
template <class View>
struct BoxOfView {
  using Index = std::int64_t;

  View view;
  Kokkos::Array<Index, 3> offset{}; ///< slowest first; those beyond the rank last
  Kokkos::Array<Index, 3> extent{};

  BoxOfView(const View& v, const output::Box& box) : view(v) {
    const int before = static_cast<int>(View::rank) - static_cast<int>(box.extent.size());
    for (int d = 0; d < 3; ++d) {
      const bool has = d >= before && d < static_cast<int>(View::rank);
      offset[d] = has ? static_cast<Index>(box.offset[d - before]) : 0;
      extent[d] = has ? static_cast<Index>(box.extent[d - before]) : 1;
    }
  }

  KOKKOS_FUNCTION typename View::reference_type at(Index a, Index b, Index c) const {
    if constexpr (static_cast<int>(View::rank) == 1)
      return view(offset[0] + a);
    else if constexpr (static_cast<int>(View::rank) == 2)
      return view(offset[0] + a, offset[1] + b);
    else
      return view(offset[0] + a, offset[1] + b, offset[2] + c);
  }
  /// Element `number` in C order.
  KOKKOS_FUNCTION typename View::reference_type operator()(Index number) const {
    return at(number / extent[2] / extent[1], number / extent[2] % extent[1], number % extent[2]);
  }
  /// Local, on the host. Calls visit(element) for all in C order.
  template <class Visit>
  void each(const Visit& visit) const {
    for (Index a = 0; a < extent[0]; ++a)
      for (Index b = 0; b < extent[1]; ++b)
        for (Index c = 0; c < extent[2]; ++c) visit(at(a, b, c));
  }
};

/// Memory beside the View's, as long as the longest box so far.
template <class View>
class Staging {
 public:
  using T = typename View::non_const_value_type;
  using Room = Kokkos::View<T*, typename View::memory_space>;

  Room room(const output::Box& box) {
    std::size_t count = 1;
    for (const auto n : box.extent) count *= n;
    if (all_.extent(0) < count) all_ = Room(Kokkos::view_alloc("output/staging", Kokkos::WithoutInitializing), count);
    return Kokkos::subview(all_, std::pair<std::size_t, std::size_t>(0, count));
  }

 private:
  Room all_{"output/staging", 0};
};

/// A box in host memory, as its user handed it over.
template <class T>
using HostBox = Kokkos::View<T*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

/// to(n) = from(n), for either a box of a View and contiguous memory; waits for it.
template <class ExecutionSpace, class To, class From>
void copy_box(const To& to, const From& from, std::size_t count) {
  const ExecutionSpace instance;
  Kokkos::parallel_for(
      "output/copy",
      Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<std::int64_t>>(instance, 0,
                                                                           static_cast<std::int64_t>(count)),
      KOKKOS_LAMBDA(std::int64_t n) { to(n) = from(n); });
  device::fence(instance, "output/copied");
}

} // namespace detail

/// Collective over the file's communicator. Writes a View of rank 1 to 3 as this rank's block of a dataset; its extents
/// are those of the block, after a 1 for each dimension that it has more. Waits for kernels that are running. The View
/// is only read. `staged`: by way of memory beside the View's, as where the host does not reach it.
template <class View, bool staged = !device::on_host<View>>
void write_view(output::File& file, const std::string& name, const output::Block& block, const View& view) {
  using T = typename View::non_const_value_type;
  device::fence(typename View::execution_space(), "output/to be written");
  detail::Staging<View> staging;
  const output::Fetch<T> fetch = [&](const output::Box& box, T* to) {
    const detail::BoxOfView<View> values(view, box);
    if constexpr (staged) {
      const auto room = staging.room(box);
      detail::copy_box<typename View::execution_space>(room, values, room.extent(0));
      Kokkos::deep_copy(detail::HostBox<T>(to, room.extent(0)), room);
    } else {
      values.each([&](const T& value) { *to++ = value; });
    }
  };
  file.dataset<T>(name, block, fetch);
}

/// Collective over the reader's communicator. Reads a block of a dataset into a View of rank 1 to 3 whose extents are
/// those of the block, after a 1 for each dimension that it has more. The View is valid on return. `staged` as there.
template <class View, bool staged = !device::on_host<View>>
void read_view(const output::Reader& reader, const std::string& name, const output::Block& block, const View& view) {
  using T = typename View::non_const_value_type;
  detail::Staging<View> staging;
  const output::Store<T> store = [&](const output::Box& box, const T* from) {
    const detail::BoxOfView<View> values(view, box);
    if constexpr (staged) {
      const auto room = staging.room(box);
      Kokkos::deep_copy(room, detail::HostBox<const T>(from, room.extent(0)));
      detail::copy_box<typename View::execution_space>(values, room, room.extent(0));
    } else {
      values.each([&](T& value) { value = *from++; });
    }
  };
  reader.read<T>(name, block, store);
}

} // namespace kontor::grid
