// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "checks/checked.hpp"

#include <kontor/comm/error.hpp>
#include <kontor/comm/mpi_check.hpp>
#include <kontor/comm/views/datatype.hpp>
#include <kontor/comm/with_extents.hpp>

#include <fmt/format.h>

#include <cstddef>
#include <vector>

namespace kontor::comm::detail {
namespace {

constexpr Scalar byte{ScalarKind::bytes, 1};

/// The data that follow an announcement nobody can use.
void take_away(const Communicator& comm, const Description& sent) {
  const auto bytes = element_count(sent.shape) * sent.scalar.size;
  std::vector<std::byte> memory(static_cast<std::size_t>(bytes));
  const auto payload = mpi::payload(bytes, byte);
  mpi::check(MPI_Recv(memory.data(), payload.count, payload.type, sent.rank, sent.tag, comm.native(),
                      MPI_STATUS_IGNORE),
             "MPI_Recv");
}

} // namespace

void send_header(const Communicator& comm, const Envelope& envelope, const Buffer& buffer) {
  if (envelope.peer == no_rank) return;
  auto mine = describe(comm.rank(), envelope.tag, buffer);
  mine.announces = true;
  const auto payload = mpi::payload(sizeof(mine), byte);
  if (verified(comm)) {
    const auto message = checked_send(comm, envelope, buffer, &mine, payload, mine);
    return wait_with_timeout(comm, *message, envelope, buffer);
  }
  const int code = MPI_Send(&mine, payload.count, payload.type, envelope.peer, envelope.tag, comm.native());
  if (code != MPI_SUCCESS) fail_message(code, "MPI_Send", envelope, buffer);
}

Header recv_header(const Communicator& comm, const Envelope& envelope, Scalar scalar, const Shape& expected) {
  Buffer buffer{nullptr, scalar, expected, MemoryKind::host, "to be made"};
  auto mine = describe(comm.rank(), envelope.tag, buffer);
  mine.announces = true;
  Description sent;
  sent.signature = 0;
  const auto payload = mpi::payload(sizeof(sent), byte);
  if (verified(comm)) {
    const auto message = checked_receive(comm, envelope, buffer, &sent, payload, mine);
    wait_with_timeout(comm, *message, envelope, buffer);
  } else {
    const int code = MPI_Recv(&sent, payload.count, payload.type, mpi_rank(envelope.peer),
                              mpi_tag(envelope.tag), comm.native(), MPI_STATUS_IGNORE);
    if (code != MPI_SUCCESS) fail_message(code, "MPI_Recv", envelope, buffer);
    if (sent.signature != Description::sign || !sent.announces)
      throw Error(fmt::format("{}: the message was not sent by send_with_extents()", to_string(envelope)));
    if (const auto what = difference(sent, mine)) {
      take_away(comm, sent);
      throw Error(fmt::format("{}: {}", to_string(envelope), *what));
    }
  }
  return {sent.shape, sent.label, sent.rank, sent.tag};
}

} // namespace kontor::comm::detail
