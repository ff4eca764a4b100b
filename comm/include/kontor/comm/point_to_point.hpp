// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/checks/envelope.hpp>
#include <kontor/comm/messages/on.hpp>
#include <kontor/comm/request.hpp>
#include <kontor/comm/views/concepts.hpp>
#include <kontor/comm/views/lowering.hpp>

#include <cstring>

/// Messages; see On. Both ends must have equal extents and layouts.
///
/// All of them throw CallError from check level `local` on if the peer, the tag or the View is not available, or
/// elements of the View to receive into share memory. At check level `cross_rank` every message carries a description
/// of its View, is sent synchronously (MPI_Issend) and waited for with a timeout: both ends get an Error that names
/// both if scalars, extents or storage orders differ, and the one that is there gets an Error if the other never comes.
/// Both ends of a message must then use these calls, and not MPI's own.
namespace kontor::comm {
namespace detail {

/// Of a message.
constexpr Access access_of(const Envelope& envelope) {
  return envelope.peer == no_rank ? Access::none : envelope.direction == Direction::from ? Access::write : Access::read;
}

template <ViewType View, class Space>
Request<View> begin_message(CallOn<Space> on, const View& view, const Envelope& envelope) {
  check_message(on.comm, envelope, view);
  const auto access = access_of(envelope);
  auto request = RequestAccess::make<View>(on, envelope.operation, AccessibleTo::mpi, &access, view);
  const auto& operand = RequestAccess::operands(request).first;
  RequestAccess::operation(request).begin(envelope, operand.data(), operand.payload());
  return request;
}

} // namespace detail

/// Called by the sender; the rank `dest` receives. May return before the message has arrived; the View may be written
/// on return. Nothing happens if `dest` is no_rank. MPI_Send.
template <SentView View>
void send(On<View> on, const View& view, int dest, int tag = 0) {
  const detail::Envelope envelope{"send", detail::Direction::to, dest, tag};
  const auto& cached = detail::check_message(on.comm, envelope, view);
  if (dest == no_rank) return;
  const detail::TypedOperand<const View&> memory(on, envelope.operation, view, detail::Access::read);
  if (cached.check == CheckLevel::cross_rank) [[unlikely]]
    return void(detail::message_verified(on.comm, envelope, memory.lent()));
  const auto payload = memory.payload();
  const int code = MPI_Send(memory.data(), payload.count, payload.type, dest, tag, cached.comm);
  if (code != MPI_SUCCESS) [[unlikely]]
    detail::fail_message(code, "MPI_Send", envelope, to_buffer(view));
}

/// Called by the receiver. `source` may be any_source, and `tag` any_tag: the status has those of the message. Nothing
/// happens if `source` is no_rank, and the status is empty. MPI_Recv.
template <ReceivedView View>
MessageStatus recv(On<View> on, const View& view, int source, int tag = 0) {
  const detail::Envelope envelope{"recv", detail::Direction::from, source, tag};
  const auto& cached = detail::check_message(on.comm, envelope, view);
  if (source == no_rank) return {};
  const detail::TypedOperand<const View&> memory(on, envelope.operation, view, detail::Access::write);
  if (cached.check == CheckLevel::cross_rank) [[unlikely]] {
    const auto verified = detail::message_verified(on.comm, envelope, memory.lent());
    memory.deliver();
    return verified;
  }
  const auto payload = memory.payload();
  MPI_Status status;
  const int code = MPI_Recv(memory.data(), payload.count, payload.type, detail::mpi_rank(source), detail::mpi_tag(tag),
                            cached.comm, &status);
  if (code != MPI_SUCCESS) [[unlikely]]
    detail::fail_message(code, "MPI_Recv", envelope, to_buffer(view));
  memory.deliver();
  return MessageStatus(status);
}

/// Called by both. Sends one View to `dest` and receives another from `source`, which may be any_source; the half whose
/// peer is no_rank does not take place. The status is that of what was received. Free of deadlock for any pattern of
/// peers, oneself included. MPI_Sendrecv.
template <SentView SendView, ReceivedView ReceiveView>
MessageStatus sendrecv(On<SendView, ReceiveView> on, const SendView& send_view, int dest,
                       const ReceiveView& receive_view, int source, int tag = 0) {
  detail::check_sendrecv<SendView, ReceiveView>();
  const detail::Envelope to{"sendrecv", detail::Direction::to, dest, tag};
  const detail::Envelope from{"sendrecv", detail::Direction::from, source, tag};
  const auto& cached = detail::check_message(on.comm, to, send_view);
  detail::check_message(on.comm, from, receive_view);
  const detail::TypedOperand<const SendView&> out(on, to.operation, send_view, detail::access_of(to));
  const detail::TypedOperand<const ReceiveView&> in(on, from.operation, receive_view, detail::access_of(from));
  if (cached.check == CheckLevel::cross_rank) [[unlikely]] {
    const auto verified = detail::sendrecv_verified(on.comm, to, out.lent(), from, in.lent());
    in.deliver();
    return verified;
  }
  const auto sent = out.payload();
  const auto received = in.payload();
  MPI_Status status;
  const int code = MPI_Sendrecv(out.data(), sent.count, sent.type, detail::mpi_rank(dest), tag, in.data(),
                                received.count, received.type, detail::mpi_rank(source), tag, cached.comm, &status);
  if (code != MPI_SUCCESS) [[unlikely]]
    detail::fail_sendrecv(code, "MPI_Sendrecv", to, to_buffer(send_view), from, to_buffer(receive_view));
  in.deliver();
  return MessageStatus(status);
}

/// Called by the sender. Begins to send; wait() returns when the View may be written. MPI_Isend.
template <SentView View>
Request<View> isend(On<View> on, const View& view, int dest, int tag = 0) {
  return detail::begin_message(on, view, {"isend", detail::Direction::to, dest, tag});
}

/// Called by the receiver. Begins to receive; the data are valid when wait() returns. `source` may be any_source, and
/// `tag` any_tag. MPI_Irecv.
template <ReceivedView View>
Request<View> irecv(On<View> on, const View& view, int source, int tag = 0) {
  return detail::begin_message(on, view, {"irecv", detail::Direction::from, source, tag});
}

} // namespace kontor::comm
