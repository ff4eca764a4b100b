// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "base/deadline.hpp"
#include "base/ranks.hpp"
#include "checks/checked.hpp"
#include "communicator/internals.hpp"

#include <kontor/comm/error.hpp>
#include <kontor/comm/mpi_check.hpp>
#include <kontor/comm/probe.hpp>

#include <fmt/format.h>

namespace kontor::comm {
namespace {

using detail::Direction;
using detail::Envelope;

[[noreturn]] void fail(int code, const char* mpi_function, const Envelope& envelope) {
  throw MpiError(fmt::format("{}: {} failed: {}", detail::to_string(envelope), mpi_function, mpi::error_text(code)));
}

MessageStatus status_of(const Communicator& comm, const MPI_Status& status) {
  return MessageStatus(status, detail::verified(comm) ? sizeof(detail::Description) : 0);
}

std::optional<MessageStatus> look(const Communicator& comm, const Envelope& envelope) {
  int found = 0;
  MPI_Status status;
  const int code =
      MPI_Iprobe(detail::mpi_rank(envelope.peer), detail::mpi_tag(envelope.tag), comm.native(), &found, &status);
  if (code != MPI_SUCCESS) fail(code, "MPI_Iprobe", envelope);
  if (!found) return std::nullopt;
  return status_of(comm, status);
}

} // namespace

std::int64_t MessageStatus::bytes() const { return source == no_rank ? 0 : mpi::bytes_of(status_) - before_; }

MessageStatus probe(const Communicator& comm, int source, int tag) {
  const Envelope envelope{"probe", Direction::from, source, tag};
  detail::check_envelope(comm, envelope);
  if (detail::verified(comm)) {
    std::optional<MessageStatus> found;
    const auto look_again = [&] {
      detail::internals(comm).checks()->progress();
      found = look(comm, envelope);
      return found.has_value();
    };
    if (mpi::Deadline(comm.options().timeout).wait(look_again)) return *found;
    throw Error(fmt::format("rank {}: {}: no message has come within {} s", comm.rank(), detail::to_string(envelope),
                            comm.options().timeout),
                "E-COMM-TIMEOUT");
  }
  MPI_Status status;
  const int code = MPI_Probe(detail::mpi_rank(source), detail::mpi_tag(tag), comm.native(), &status);
  if (code != MPI_SUCCESS) fail(code, "MPI_Probe", envelope);
  return status_of(comm, status);
}

std::optional<MessageStatus> iprobe(const Communicator& comm, int source, int tag) {
  const Envelope envelope{"iprobe", Direction::from, source, tag};
  detail::check_envelope(comm, envelope);
  return look(comm, envelope);
}

} // namespace kontor::comm
