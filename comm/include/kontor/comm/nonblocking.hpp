// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/contiguous.hpp>
#include <kontor/comm/message.hpp>
#include <kontor/comm/request.hpp>

/// Messages that go on by themselves. Views, orders and errors as in point_to_point.hpp.
namespace kontor::comm {
namespace detail {

template <std::size_t view, class Request>
void post_send(const Communicator& comm, Request& request, const Envelope& envelope) {
  auto& lent = request.template lent<view>();
  const auto payload = lent.payload();
  MPI_Request begun = MPI_REQUEST_NULL;
  const int code = MPI_Isend(lent.data(), payload.count, payload.type, mpi_rank(envelope.peer), envelope.tag,
                             comm.native(), &begun);
  if (code != MPI_SUCCESS) [[unlikely]]
    fail_message(code, "MPI_Isend", envelope, to_buffer(lent.view()));
  request.begun(begun, envelope, view);
}

template <std::size_t view, class Request>
void post_receive(const Communicator& comm, Request& request, const Envelope& envelope) {
  auto& lent = request.template lent<view>();
  const auto payload = lent.payload();
  MPI_Request begun = MPI_REQUEST_NULL;
  const int code = MPI_Irecv(lent.data(), payload.count, payload.type, mpi_rank(envelope.peer),
                             mpi_tag(envelope.tag), comm.native(), &begun);
  if (code != MPI_SUCCESS) [[unlikely]]
    fail_message(code, "MPI_Irecv", envelope, to_buffer(lent.view()));
  request.begun(begun, envelope, view);
}

inline Use use_of(const Envelope& envelope) {
  return envelope.peer == no_rank ? Use::nothing : envelope.way == Way::to ? Use::read : Use::written;
}

} // namespace detail

/// Called by the sender. Begins to send; wait() returns when the View may be written. MPI_Isend.
template <class View>
Request<View> isend(const Communicator& comm, const View& view, int dest, int tag = 0) {
  detail::check_sent<View>();
  const detail::Envelope to{"isend", detail::Way::to, dest, tag};
  detail::check_message(comm, to, view);
  Request<View> request(comm, detail::Lent<View>(comm, to.operation, view, detail::use_of(to)));
  detail::post_send<0>(comm, request, to);
  return request;
}

/// Called by the receiver. Begins to receive; the data are valid when wait() returns. `source` may be
/// any_rank, and `tag` any_tag. MPI_Irecv.
template <class View>
Request<View> irecv(const Communicator& comm, const View& view, int source, int tag = 0) {
  detail::check_received<View>();
  const detail::Envelope from{"irecv", detail::Way::from, source, tag};
  detail::check_message(comm, from, view);
  Request<View> request(comm, detail::Lent<View>(comm, from.operation, view, detail::use_of(from)));
  detail::post_receive<0>(comm, request, from);
  return request;
}

/// Called by both. Begins to send one View and to receive another; wait() gives both back, the sent one
/// first. MPI_Irecv and MPI_Isend.
template <class SendView, class ReceiveView>
Request<SendView, ReceiveView> iexchange(const Communicator& comm, const SendView& send_view, int dest,
                                         const ReceiveView& receive_view, int source, int tag = 0) {
  detail::check_exchanged<SendView, ReceiveView>();
  const detail::Envelope to{"iexchange", detail::Way::to, dest, tag};
  const detail::Envelope from{"iexchange", detail::Way::from, source, tag};
  detail::check_message(comm, to, send_view);
  detail::check_message(comm, from, receive_view);
  Request<SendView, ReceiveView> request(
      comm, detail::Lent<SendView>(comm, to.operation, send_view, detail::use_of(to)),
      detail::Lent<ReceiveView>(comm, from.operation, receive_view, detail::use_of(from)));
  detail::post_receive<1>(comm, request, from);
  detail::post_send<0>(comm, request, to);
  return request;
}

} // namespace kontor::comm
