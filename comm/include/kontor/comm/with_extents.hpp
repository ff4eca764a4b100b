// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/broadcast.hpp>
#include <kontor/comm/checks/envelope.hpp>
#include <kontor/comm/messages/on.hpp>
#include <kontor/comm/point_to_point.hpp>
#include <kontor/comm/views/concepts.hpp>
#include <kontor/device/compat.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

/// Messages and broadcasts that bring the extents of their View with them, so the receiver need not know them.
/// with_counts.hpp has what brings the numbers of elements of all ranks.
namespace kontor::comm {
namespace detail {

/// What the receiver learns before the data.
struct Header {
  Shape shape; ///< of the sender's View
  std::string label;
  int source;
  int tag;
};

/// Tells the receiver about the View that follows.
void send_header(const Communicator&, const Envelope&, const Buffer&);

/// `expected` has extents of -1 where any will do. Throws Error, having taken the data away, if another View follows.
Header recv_header(const Communicator&, const Envelope&, Scalar, const Shape& expected);

/// The elements, in one piece; `arriving` says where, and how they lie.
void recv_elements(const Communicator&, const Header&, const Buffer& arriving);

template <class View>
constexpr bool check_made() {
  if constexpr (!check_received<View>()) {
    return false;
  } else {
    using Layout = typename View::array_layout;
    constexpr bool plain = std::is_same_v<Layout, Kokkos::LayoutLeft> || std::is_same_v<Layout, Kokkos::LayoutRight>;
    static_assert(plain, "kontor::comm: a View that is made for what arrives is LayoutLeft or LayoutRight");
    constexpr bool owns = device::owns_memory<View>;
    static_assert(owns, "kontor::comm: a View that is made for what arrives owns its memory");
    return plain && owns;
  }
}

/// Of a View that is still to be made.
template <ViewType View>
Shape expected_shape() {
  constexpr int rank = static_cast<int>(View::rank);
  constexpr int dynamic = static_cast<int>(View::rank_dynamic);
  Shape shape;
  shape.rank = rank;
  for (int d = 0; d < rank; ++d)
    shape.extents[d] = d < dynamic ? -1 : static_cast<std::int64_t>(View::static_extent(d));
  return shape;
}

template <ViewType View>
View make_view(const std::string& label, const Shape& shape) {
  const std::string name = label.empty() ? "comm/received" : label;
  const auto properties = Kokkos::view_alloc(name, Kokkos::WithoutInitializing);
  if constexpr (static_cast<int>(View::rank) == 0) {
    return View(properties);
  } else {
    typename View::array_layout layout;
    for (int d = 0; d < shape.rank; ++d) layout.dimension[d] = static_cast<std::size_t>(shape.extents[d]);
    return View(properties, layout);
  }
}

/// Receives the elements that follow a header, in the order in which they lie at the sender, into the View, by logical
/// index.
template <ViewType View>
void recv_elements(On<View> on, const Header& header, const View& view) {
  const auto order = storage_order(header.shape);
  LoweredIn<View> memory(data_of(view), static_cast<std::int64_t>(view.size()),
                         scalar_of<typename View::non_const_value_type>(), on.instance(), AccessibleTo::mpi);
  const auto buffer = to_buffer(view);
  memory.place(cached(on.comm).lowering, buffer, order);
  memory.prepare();
  recv_elements(on.comm, header,
                {memory.data(), buffer.scalar, packed_shape(buffer.shape, order), buffer.memory, buffer.label});
  memory.unpack();
}

/// What the root tells of its View.
struct Announced {
  Shape shape;
  Scalar scalar;
};
/// Nothing if a View of the scalar and of `expected` extents, -1 for any, can be the root's.
std::optional<std::string> extents_problem(const Announced&, const Shape& expected, Scalar);

/// The View, or a new one if the root's has other extents. If this rank's View cannot be the root's, takes part in the
/// broadcast with memory that is not used, then throws Error; at check level `cross_rank` all ranks throw UsageError.
template <ViewType View>
View fitting(On<View> on, const View& view, const Announced& theirs, int root) {
  const auto problem =
      extents_problem(theirs, expected_shape<View>(), scalar_of<typename View::non_const_value_type>());
  if (problem) {
    const Collective unused{
        .kind = Kind::bcast, .root = root, .problem = verified(on.comm) ? &problem : nullptr, .scalar = &theirs.scalar};
    const auto bytes = element_count(theirs.shape) * theirs.scalar.size;
    call<false>(on, unused, Kokkos::View<std::byte*, typename View::device_type>("comm/unused", bytes));
    throw Error("bcast_with_extents of View '" + view.label() + "': " + *problem);
  }
  const bool fits = theirs.shape.extents == shape_of(view).extents && (view.data() || static_cast<int>(View::rank) > 0);
  return fits ? view : make_view<View>(view.label(), theirs.shape);
}

} // namespace detail

/// Local. The extents of a View of rank 0 to 8, in elements; what is known at compile time included.
template <ViewType View>
std::array<std::size_t, static_cast<std::size_t>(View::rank)> extents(const View& view) {
  std::array<std::size_t, static_cast<std::size_t>(View::rank)> result{};
  for (std::size_t d = 0; d < result.size(); ++d) result[d] = view.extent(d);
  return result;
}

/// A View that a call makes for what arrives: in any memory space, with memory of its own, LayoutLeft or LayoutRight.
template <class View>
concept MadeView = detail::check_made<View>();

/// Called by the sender; the rank `dest` calls recv_with_extents(). Otherwise like send(). Two messages, so threads
/// that send at the same time need tags of their own. Two MPI_Send.
template <SentView View>
void send_with_extents(On<View> on, const View& view, int dest, int tag = 0) {
  const detail::Envelope envelope{"send_with_extents", detail::Direction::to, dest, tag};
  detail::check_message(on.comm, envelope, view);
  detail::send_header(on.comm, envelope, to_buffer(view));
  send(on, view, dest, tag);
}

/// Called by the receiver: a View of its own, with the extents and the label of the sender's ("comm/received" if that
/// has none), and its elements by logical index, whatever the two layouts. `source` may be any_source, and `tag`
/// any_tag. Throws Error if the sender's View has another scalar, another rank, or other extents where View's are
/// fixed; the message is taken away then. Empty if `source` is no_rank. Two MPI_Recv.
template <MadeView View>
View recv_with_extents(On<View> on, int source, int tag = 0) {
  using T = typename View::non_const_value_type;
  const detail::Envelope envelope{"recv_with_extents", detail::Direction::from, source, tag};
  detail::check_envelope(on.comm, envelope);
  if (source == no_rank) return {};
  const auto header = detail::recv_header(on.comm, envelope, scalar_of<T>(), detail::expected_shape<View>());
  auto view = detail::make_view<View>(header.label, header.shape);
  detail::recv_elements(on, header, view);
  return view;
}

/// Collective. Every rank's View becomes the root's: one that has other extents is replaced by a new one with its own
/// label. Of rank 0 to 8; layouts are equal on all ranks. Throws Error, after the broadcast, on a rank whose View
/// cannot have the extents of the root's, or is of another scalar. MPI_Bcast of the extents, then MPI_Bcast.
template <MadeView View>
void bcast_with_extents(On<View> on, View& view, int root) {
  const detail::Announced mine{shape_of(view), scalar_of<typename View::non_const_value_type>()};
  view = detail::fitting<View>(on, view, bcast(on.comm, mine, root), root);
  bcast(on, view, root);
}

} // namespace kontor::comm
