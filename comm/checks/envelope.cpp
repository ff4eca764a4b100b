// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "checks/description.hpp"
#include "views/overlap.hpp"

#include <kontor/comm/checks/envelope.hpp>
#include <kontor/comm/mpi_check.hpp>
#include <kontor/comm/views/lowering.hpp>

#include <fmt/format.h>

namespace kontor::comm::detail {

std::string to_string(const Envelope& envelope) {
  const auto [operation, direction, peer, tag] = envelope;
  if (direction == Direction::among) return operation;
  const auto who = peer == any_source ? std::string("any rank") : fmt::format("rank {}", peer);
  const auto which = tag == any_tag ? std::string("any tag") : fmt::format("tag {}", tag);
  return fmt::format("{} {} {} ({})", operation, direction == Direction::to ? "to" : "from", who, which);
}

std::string to_string(const Buffer& buffer) {
  return fmt::format("View '{}', {} {}", buffer.label, extents_to_string(buffer.shape), comm::to_string(buffer.scalar));
}

std::string strided_words(const Buffer& buffer) {
  return to_string(buffer) + ", does not lie in one piece, and packing is 'none'; choose packing 'kernel', or a "
                             "contiguous View";
}

WireOrder lowered_order(const Lowering& how, const char* operation, const Buffer& buffer) {
  const auto order = storage_order(buffer.shape);
  if (how.packing == Packing::none && !is_contiguous(buffer.shape, order))
    throw CallError(fmt::format("{}: {}", operation, strided_words(buffer)));
  return order;
}

void refuse_shared_elements(const char* operation, const Buffer& buffer) {
  throw CallError(fmt::format("{}: {}: {}", operation, to_string(buffer), overlap_words(buffer.shape)));
}

std::string why_not_valid(const Communicator& comm, const Envelope& envelope) {
  const bool sends = envelope.direction == Direction::to;
  if (envelope.peer >= comm.size() || envelope.peer < (sends ? no_rank : any_source))
    return fmt::format("ranks are 0 to {}; no_rank says there is none{}", comm.size() - 1,
                       sends ? "" : ", any_source takes whoever has sent");
  return fmt::format("tags are 0 to {} with this MPI{}", comm.tag_limit(),
                     sends ? "" : "; any_tag takes whatever the message has");
}

void check_envelope(const Communicator& comm, const Envelope& envelope) {
  if (comm.options().check != CheckLevel::off && !is_valid(detail::cached(comm), envelope))
    throw CallError(fmt::format("{}: {}", to_string(envelope), why_not_valid(comm, envelope)));
}

void refuse_message(const Communicator& comm, Envelope envelope, const Buffer& buffer) {
  const auto why = !is_valid(detail::cached(comm), envelope) ? why_not_valid(comm, envelope)
                   : !buffer.data                            ? std::string("it ") + no_memory
                                                             : overlap_words(buffer.shape);
  throw CallError(fmt::format("{} of {}: {}", to_string(envelope), to_string(buffer), why));
}

void fail_message(int code, const char* mpi_function, Envelope envelope, const Buffer& buffer) {
  throw MpiError(fmt::format("{} of {}: {} failed: {}", to_string(envelope), to_string(buffer), mpi_function,
                             mpi::error_text(code)));
}

void fail_sendrecv(int code, const char* mpi_function, const Envelope& to, const Buffer& sent, const Envelope& from,
                   const Buffer& received) {
  throw MpiError(fmt::format("{} of {}, {} of {}: {} failed: {}", to_string(to), to_string(sent), to_string(from),
                             to_string(received), mpi_function, mpi::error_text(code)));
}

} // namespace kontor::comm::detail
