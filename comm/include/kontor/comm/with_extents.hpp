// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/checks/envelope.hpp>
#include <kontor/comm/communicator/internals.hpp>
#include <kontor/comm/on.hpp>
#include <kontor/comm/views/concepts.hpp>
#include <kontor/comm/views/lowering.hpp>

#include <string>
#include <type_traits>

/// Messages that bring their extents with them, so the receiver need not know them.
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
/// `expected` has extents of -1 where any will do. Throws Error, after taking the data away, if the View that
/// follows is another one.
Header recv_header(const Communicator&, const Envelope&, Scalar, const Shape& expected);

template <class View>
constexpr bool check_made() {
  if constexpr (!check_received<View>()) {
    return false;
  } else {
    using Layout = typename View::array_layout;
    constexpr bool plain =
        std::is_same_v<Layout, Kokkos::LayoutLeft> || std::is_same_v<Layout, Kokkos::LayoutRight>;
    static_assert(plain, "kontor::comm: recv_with_extents makes Views of LayoutLeft or LayoutRight");
    constexpr bool owns = View::traits::is_managed;
    static_assert(owns, "kontor::comm: recv_with_extents makes Views that own their memory");
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

} // namespace detail

/// A View that recv_with_extents() makes: in any memory space, with memory of its own, LayoutLeft or
/// LayoutRight.
template <class View>
concept MadeView = detail::check_made<View>();

/// Called by the sender; the rank `dest` calls recv_with_extents(). Otherwise like send(). Two messages, so
/// threads that send at the same time need tags of their own. Two MPI_Send.
template <SentView View>
void send_with_extents(On<View> on, const View& view, int dest, int tag = 0) {
  const detail::Envelope envelope{"send_with_extents", detail::Direction::to, dest, tag};
  detail::check_message(on.comm, detail::internals(on.comm).cached(), envelope, view);
  const detail::Lowered<View> memory(detail::internals(on.comm).lowering(), envelope.operation, view,
                                     on.instance());
  memory.pack();
  const auto payload = memory.payload();
  const auto buffer = to_buffer(view);
  detail::send_header(on.comm, envelope, buffer);
  const int code =
      MPI_Send(memory.data(), payload.count, payload.type, detail::mpi_rank(dest), tag, on.comm.native());
  if (code != MPI_SUCCESS) [[unlikely]]
    detail::fail_message(code, "MPI_Send", envelope, buffer);
}

/// Called by the receiver: a View of its own, with the extents and the label of the sender's ("comm/received"
/// if that has none), and its elements by logical index, whatever the two layouts. `source` may be
/// any_source, and `tag` any_tag. Throws Error if the sender's View has another scalar, another rank, or
/// other extents where View's are fixed; the message is taken away then. Empty if `source` is no_rank. Two
/// MPI_Recv.
template <MadeView View>
View recv_with_extents(On<View> on, int source, int tag = 0) {
  using T = typename View::non_const_value_type;
  const detail::Envelope envelope{"recv_with_extents", detail::Direction::from, source, tag};
  detail::check_envelope(on.comm, envelope);
  if (source == no_rank) return {};
  const auto header = detail::recv_header(on.comm, envelope, scalar_of<T>(), detail::expected_shape<View>());
  auto view = detail::make_view<View>(header.label, header.shape);
  const detail::Lowered<View> memory(detail::internals(on.comm).lowering(), view, storage_order(header.shape),
                                     on.instance());
  memory.prepare();
  const auto payload = memory.payload();
  const int code = MPI_Recv(memory.data(), payload.count, payload.type, header.source, header.tag,
                            on.comm.native(), MPI_STATUS_IGNORE);
  if (code != MPI_SUCCESS) [[unlikely]]
    detail::fail_message(code, "MPI_Recv", envelope, to_buffer(view));
  memory.unpack();
  return view;
}

} // namespace kontor::comm
