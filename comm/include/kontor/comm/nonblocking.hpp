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

template <ViewType View>
Lent<View> lend(const Communicator& comm, const typename View::execution_space* instance, const View& view,
                const Envelope& envelope) {
  const auto use = envelope.peer == no_rank              ? Use::nothing
                   : envelope.direction == Direction::to ? Use::read
                                                         : Use::written;
  return {comm, envelope.operation, view, use, instance, Taker::mpi};
}

template <ViewType View>
Request<View> begin_send(On<View> on, const View& view, const Envelope& to) {
  auto request = RequestAccess::make(on.comm, lend(on.comm, on.instance(), view, to));
  RequestAccess::begin_send<0>(request, to);
  return request;
}

template <ViewType View>
Request<View> begin_receive(On<View> on, const View& view, const Envelope& from) {
  auto request = RequestAccess::make(on.comm, lend(on.comm, on.instance(), view, from));
  RequestAccess::begin_receive<0>(request, from);
  return request;
}

template <ViewType SendView, ViewType ReceiveView>
Request<SendView, ReceiveView> begin_sendrecv(On<SendView, ReceiveView> on, const SendView& send_view,
                                              const Envelope& to, const ReceiveView& receive_view,
                                              const Envelope& from) {
  auto request = RequestAccess::make(on.comm, lend(on.comm, instance_for<SendView>(on), send_view, to),
                                     lend(on.comm, instance_for<ReceiveView>(on), receive_view, from));
  RequestAccess::begin_receive<1>(request, from);
  RequestAccess::begin_send<0>(request, to);
  return request;
}

} // namespace detail

/// Called by the sender. Begins to send; wait() returns when the View may be written. MPI_Isend.
template <SentView View>
Request<View> isend(On<View> on, const View& view, int dest, int tag = 0) {
  const detail::Envelope to{"isend", detail::Direction::to, dest, tag};
  detail::check_message(on.comm, detail::internals(on.comm).cached(), to, view);
  return detail::begin_send<View>(on, view, to);
}

/// Called by the receiver. Begins to receive; the data are valid when wait() returns. `source` may be
/// any_source, and `tag` any_tag. MPI_Irecv.
template <ReceivedView View>
Request<View> irecv(On<View> on, const View& view, int source, int tag = 0) {
  const detail::Envelope from{"irecv", detail::Direction::from, source, tag};
  detail::check_message(on.comm, detail::internals(on.comm).cached(), from, view);
  return detail::begin_receive<View>(on, view, from);
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
