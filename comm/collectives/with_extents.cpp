// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "checks/checked.hpp"

#include <kontor/comm/error.hpp>
#include <kontor/comm/mpi_check.hpp>
#include <kontor/comm/views/datatype.hpp>
#include <kontor/comm/with_extents.hpp>

#include <fmt/format.h>

namespace kontor::comm::detail {
namespace {

constexpr Scalar byte{ScalarKind::bytes, 1};

/// What goes before the data of a View.
Description announcement(const Communicator& comm, const Envelope& envelope, const Buffer& buffer) {
  auto mine = describe(comm.rank(), envelope.tag, buffer);
  mine.announces = true;
  return mine;
}

/// The data that follow a description that does not fit.
void take_away(const Communicator& comm, const Description& sent) {
  const auto bytes = element_count(sent.shape) * sent.scalar.size;
  std::vector<std::byte> memory(static_cast<std::size_t>(bytes));
  const auto payload = mpi::payload(bytes, byte);
  mpi::check(
      MPI_Recv(memory.data(), payload.count, payload.type, sent.rank, sent.tag, comm.native(), MPI_STATUS_IGNORE),
      "MPI_Recv");
}

/// Elements at `data`; `buffer` is what errors name, and `mine` what the other end is told at level `cross_rank`.
void transfer(const Communicator& comm, const Envelope& envelope, const Buffer& buffer, void* data, std::int64_t count,
              Scalar scalar, const Description& mine) {
  const auto payload = mpi::payload(count, scalar);
  if (verified(comm)) {
    const auto message = checked_message(comm, envelope, buffer, data, payload, mine);
    return wait_with_timeout(comm, *message, envelope, buffer);
  }
  const bool sends = envelope.direction == Direction::to;
  const int code = sends ? MPI_Send(data, payload.count, payload.type, envelope.peer, envelope.tag, comm.native())
                         : MPI_Recv(data, payload.count, payload.type, mpi_rank(envelope.peer), mpi_tag(envelope.tag),
                                    comm.native(), MPI_STATUS_IGNORE);
  if (code != MPI_SUCCESS) fail_message(code, sends ? "MPI_Send" : "MPI_Recv", envelope, buffer);
}

} // namespace

std::optional<std::string> extents_problem(const Announced& root, const Shape& expected, Scalar scalar) {
  if (root.scalar != scalar)
    return fmt::format("the root's is of {}, and this rank's of {}; give all ranks the same type of View",
                       comm::to_string(root.scalar), comm::to_string(scalar));
  if (fit(root.shape, expected)) return std::nullopt;
  return fmt::format("the root's has extents {}, which a View of rank {} and of extents fixed at compile time "
                     "cannot have; give all ranks the same type of View",
                     extents_to_string(root.shape), expected.rank);
}

void send_header(const Communicator& comm, const Envelope& envelope, const Buffer& buffer) {
  if (envelope.peer == no_rank) return;
  auto mine = announcement(comm, envelope, buffer);
  transfer(comm, envelope, buffer, &mine, sizeof(mine), byte, mine);
}

Header recv_header(const Communicator& comm, const Envelope& envelope, Scalar scalar, const Shape& expected) {
  if (envelope.peer == no_rank) return {expected, "", no_rank, envelope.tag};
  const Buffer buffer{nullptr, scalar, expected, MemoryKind::host, "to be made"};
  const auto mine = announcement(comm, envelope, buffer);
  Description sent;
  sent.signature = 0;
  transfer(comm, envelope, buffer, &sent, sizeof(sent), byte, mine);
  if (!verified(comm)) {
    if (sent.signature != Description::sign || !sent.announces)
      throw Error(fmt::format("{}: the message was not sent by send_with_extents()", to_string(envelope)));
    if (const auto what = difference(sent, mine)) {
      take_away(comm, sent);
      throw Error(fmt::format("{}: {}", to_string(envelope), *what));
    }
  }
  return {sent.shape, sent.label, sent.rank, sent.tag};
}

void recv_elements(const Communicator& comm, const Header& header, const Buffer& arriving) {
  const Envelope envelope{"recv", Direction::from, header.source, header.tag};
  transfer(comm, envelope, arriving, arriving.data, element_count(arriving.shape), arriving.scalar,
           describe(comm.rank(), header.tag, arriving));
}

} // namespace kontor::comm::detail
