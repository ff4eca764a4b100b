// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/detail/contiguous.hpp>
#include <kontor/comm/detail/envelope.hpp>
#include <kontor/comm/request.hpp>

/// Messages that go on by themselves. Views, orders and errors as in point_to_point.hpp.
namespace kontor::comm {
namespace detail {

template <ViewType View>
Lent<View> lend(const Communicator& comm, const View& view, const Envelope& envelope) {
  const auto use = envelope.peer == no_rank              ? Use::nothing
                   : envelope.direction == Direction::to ? Use::read
                                                         : Use::written;
  return {comm, envelope.operation, view, use};
}

template <ViewType View>
Request<View> begin_send(const Communicator& comm, const View& view, const Envelope& to) {
  Request<View> request(comm, lend(comm, view, to));
  request.template begin_send<0>(to);
  return request;
}

template <ViewType View>
Request<View> begin_receive(const Communicator& comm, const View& view, const Envelope& from) {
  Request<View> request(comm, lend(comm, view, from));
  request.template begin_receive<0>(from);
  return request;
}

template <ViewType SendView, ViewType ReceiveView>
Request<SendView, ReceiveView> begin_sendrecv(const Communicator& comm, const SendView& send_view,
                                              const Envelope& to, const ReceiveView& receive_view,
                                              const Envelope& from) {
  Request<SendView, ReceiveView> request(comm, lend(comm, send_view, to), lend(comm, receive_view, from));
  request.template begin_receive<1>(from);
  request.template begin_send<0>(to);
  return request;
}

} // namespace detail

/// Called by the sender. Begins to send; wait() returns when the View may be written. MPI_Isend.
template <SentView View>
Request<View> isend(const Communicator& comm, const View& view, int dest, int tag = 0) {
  const detail::Envelope to{"isend", detail::Direction::to, dest, tag};
  detail::check_message(comm, comm.cached(), to, view);
  return detail::begin_send(comm, view, to);
}

/// Called by the receiver. Begins to receive; the data are valid when wait() returns. `source` may be
/// any_source, and `tag` any_tag. MPI_Irecv.
template <ReceivedView View>
Request<View> irecv(const Communicator& comm, const View& view, int source, int tag = 0) {
  const detail::Envelope from{"irecv", detail::Direction::from, source, tag};
  detail::check_message(comm, comm.cached(), from, view);
  return detail::begin_receive(comm, view, from);
}

/// Called by both. Begins to send one View and to receive another; wait() gives both back, the sent one
/// first. MPI_Irecv and MPI_Isend.
template <SentView SendView, ReceivedView ReceiveView>
Request<SendView, ReceiveView> isendrecv(const Communicator& comm, const SendView& send_view, int dest,
                                         const ReceiveView& receive_view, int source, int tag = 0) {
  detail::check_sendrecv<SendView, ReceiveView>();
  const detail::Envelope to{"isendrecv", detail::Direction::to, dest, tag};
  const detail::Envelope from{"isendrecv", detail::Direction::from, source, tag};
  detail::check_message(comm, comm.cached(), to, send_view);
  detail::check_message(comm, comm.cached(), from, receive_view);
  return detail::begin_sendrecv(comm, send_view, to, receive_view, from);
}

} // namespace kontor::comm
