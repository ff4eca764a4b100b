// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/checks/envelope.hpp>
#include <kontor/comm/communicator/internals.hpp>
#include <kontor/comm/on.hpp>
#include <kontor/comm/request.hpp>
#include <kontor/comm/views/concepts.hpp>
#include <kontor/comm/views/lowering.hpp>

/// Messages that go on by themselves. Views, orders and errors as in point_to_point.hpp.
namespace kontor::comm {
namespace detail {

/// Of a message.
constexpr Access access_of(const Envelope& envelope) {
  return envelope.peer == no_rank                ? Access::none
         : envelope.direction == Direction::from ? Access::write
                                                 : Access::read;
}

template <ViewType View>
Request<View> begin_message(On<View> on, const View& view, const Envelope& envelope) {
  const auto access = access_of(envelope);
  auto request = RequestAccess::make<View>(on, envelope.operation, Taker::mpi, &access, view);
  RequestAccess::begin(request, envelope, RequestAccess::operands(request).first);
  return request;
}

template <ViewType SendView, ViewType ReceiveView>
Request<SendView, ReceiveView> begin_sendrecv(On<SendView, ReceiveView> on, const SendView& send_view,
                                              const Envelope& to, const ReceiveView& receive_view,
                                              const Envelope& from) {
  const Access access[] = {access_of(to), access_of(from)};
  auto request = RequestAccess::make<SendView, ReceiveView>(on, to.operation, Taker::mpi, access, send_view,
                                                            receive_view);
  const auto& operands = RequestAccess::operands(request);
  RequestAccess::begin(request, from, operands.rest.first, 1);
  RequestAccess::begin(request, to, operands.first);
  return request;
}

} // namespace detail

/// Called by the sender. Begins to send; wait() returns when the View may be written. MPI_Isend.
template <SentView View>
Request<View> isend(On<View> on, const View& view, int dest, int tag = 0) {
  const detail::Envelope to{"isend", detail::Direction::to, dest, tag};
  detail::check_message(on.comm, detail::internals(on.comm).cached(), to, view);
  return detail::begin_message<View>(on, view, to);
}

/// Called by the receiver. Begins to receive; the data are valid when wait() returns. `source` may be
/// any_source, and `tag` any_tag. MPI_Irecv.
template <ReceivedView View>
Request<View> irecv(On<View> on, const View& view, int source, int tag = 0) {
  const detail::Envelope from{"irecv", detail::Direction::from, source, tag};
  detail::check_message(on.comm, detail::internals(on.comm).cached(), from, view);
  return detail::begin_message<View>(on, view, from);
}

/// Called by both. Begins to send one View and to receive another; wait() gives both back, the sent one
/// first. MPI_Irecv and MPI_Isend.
template <SentView SendView, ReceivedView ReceiveView>
Request<SendView, ReceiveView> isendrecv(On<SendView, ReceiveView> on, const SendView& send_view, int dest,
                                         const ReceiveView& receive_view, int source, int tag = 0) {
  detail::check_sendrecv<SendView, ReceiveView>();
  const detail::Envelope to{"isendrecv", detail::Direction::to, dest, tag};
  const detail::Envelope from{"isendrecv", detail::Direction::from, source, tag};
  detail::check_message(on.comm, detail::internals(on.comm).cached(), to, send_view);
  detail::check_message(on.comm, detail::internals(on.comm).cached(), from, receive_view);
  return detail::begin_sendrecv<SendView, ReceiveView>(on, send_view, to, receive_view, from);
}

} // namespace kontor::comm
