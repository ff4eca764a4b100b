// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "checks/checked.hpp"

#include <kontor/comm/error.hpp>
#include <kontor/comm/mpi_check.hpp>
#include <kontor/comm/probe.hpp>
#include <kontor/comm/views/datatype.hpp>
#include <kontor/comm/with_extents.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace kontor::comm::detail {
namespace {

constexpr Scalar byte{ScalarKind::bytes, 1};
constexpr int at_once = 1; // the number of a description whose data do not wait for its answer

/// The data that follow a description that does not fit.
void take_away(const Communicator& comm, const Description& sent) {
  const auto bytes = element_count(sent.shape) * sent.scalar.size;
  if (verified(comm)) {
    const Kokkos::View<std::byte*, Kokkos::HostSpace> unused("comm/unused", static_cast<std::size_t>(bytes));
    try {
      recv(comm, unused, sent.rank, sent.tag);
    } catch (const Error&) { // that it does not fit either
    }
    return;
  }
  std::vector<std::byte> memory(static_cast<std::size_t>(bytes));
  const auto payload = mpi::payload(bytes, byte);
  mpi::check(MPI_Recv(memory.data(), payload.count, payload.type, sent.rank, sent.tag, comm.native(),
                      MPI_STATUS_IGNORE),
             "MPI_Recv");
}

} // namespace

class SentHeader {
 public:
  SentHeader(const Communicator& comm, const Envelope& envelope, const Buffer& buffer)
      : comm_(comm.share()), envelope_(envelope), buffer_(buffer),
        mine_(std::make_shared<Description>(describe(comm.rank(), envelope.tag, buffer))) {
    mine_->announces = true;
    mine_->number = at_once;
    const auto payload = mpi::payload(sizeof(Description), byte);
    if (verified(comm)) {
      message_ = checked_message(comm, envelope, buffer, mine_.get(), payload, *mine_);
      return;
    }
    const int code = MPI_Isend(mine_.get(), payload.count, payload.type, envelope.peer, envelope.tag,
                               comm.native(), &request_);
    if (code != MPI_SUCCESS) fail_message(code, "MPI_Isend", envelope, buffer);
  }
  SentHeader(const SentHeader&) = delete;
  SentHeader& operator=(const SentHeader&) = delete;
  ~SentHeader() {
    if (message_) message_->detach(comm_, mine_);
    if (request_ != MPI_REQUEST_NULL) internals(comm_).detach(request_, mine_);
  }

  bool has_arrived(bool wait) {
    if (message_) {
      if (wait)
        wait_with_timeout(comm_, *message_, envelope_, buffer_);
      else if (internals(comm_).checks()->progress(); !message_->poll())
        return false;
      message_.reset();
    }
    int done = 1;
    const int code =
        wait ? MPI_Wait(&request_, MPI_STATUS_IGNORE) : MPI_Test(&request_, &done, MPI_STATUS_IGNORE);
    if (code != MPI_SUCCESS) fail_message(code, "MPI_Isend", envelope_, buffer_);
    return done != 0;
  }

 private:
  Communicator comm_;
  Envelope envelope_;
  Buffer buffer_;
  std::shared_ptr<Description> mine_;
  std::shared_ptr<Checked> message_; // at check level `cross_rank`, instead of the request
  MPI_Request request_ = MPI_REQUEST_NULL;
};

std::shared_ptr<SentHeader> begin_header(const Communicator& comm, const Envelope& envelope,
                                         const Buffer& buffer) {
  return envelope.peer == no_rank ? nullptr : std::make_shared<SentHeader>(comm, envelope, buffer);
}

bool has_arrived(SentHeader& header, bool wait) {
  return header.has_arrived(wait);
}

std::optional<Header> ReceivedHeader::test() {
  if (from_.peer == no_rank) return wait();
  if (verified(comm_)) internals(comm_).checks()->progress();
  const auto found = iprobe(comm_, from_.peer, from_.tag);
  if (!found) return std::nullopt;
  from_.peer = found->source;
  from_.tag = found->tag;
  return wait();
}

ExtentNumbers extents_to_send(const Shape& shape) {
  const ExtentNumbers numbers("comm/extents", 1 + max_rank);
  numbers(0) = shape.rank;
  std::ranges::copy(shape.extents, numbers.data() + 1);
  return numbers;
}

std::optional<std::string> extents_problem(const ExtentNumbers& root, const Shape& expected) {
  bool fits = root(0) == expected.rank;
  for (int d = 0; d < expected.rank; ++d)
    fits = fits && (expected.extents[d] == -1 || expected.extents[d] == root(1 + d));
  if (fits) return std::nullopt;
  Shape theirs;
  theirs.rank = static_cast<int>(root(0));
  std::copy_n(root.data() + 1, max_rank, theirs.extents.begin());
  return fmt::format(
      "the root's has extents {}, which a View of rank {} and of extents fixed at compile time "
      "cannot have; give all ranks the same type of View",
      extents_to_string(theirs), expected.rank);
}

void send_header(const Communicator& comm, const Envelope& envelope, const Buffer& buffer) {
  if (envelope.peer == no_rank) return;
  auto mine = describe(comm.rank(), envelope.tag, buffer);
  mine.announces = true;
  const auto payload = mpi::payload(sizeof(mine), byte);
  if (verified(comm)) {
    const auto message = checked_message(comm, envelope, buffer, &mine, payload, mine);
    return wait_with_timeout(comm, *message, envelope, buffer);
  }
  const int code = MPI_Send(&mine, payload.count, payload.type, envelope.peer, envelope.tag, comm.native());
  if (code != MPI_SUCCESS) fail_message(code, "MPI_Send", envelope, buffer);
}

Header recv_header(const Communicator& comm, const Envelope& envelope, Scalar scalar, const Shape& expected) {
  if (envelope.peer == no_rank) return {expected, "", no_rank, envelope.tag};
  Buffer buffer{nullptr, scalar, expected, MemoryKind::host, "to be made"};
  auto mine = describe(comm.rank(), envelope.tag, buffer);
  mine.announces = true;
  Description sent;
  sent.signature = 0;
  const auto payload = mpi::payload(sizeof(sent), byte);
  if (verified(comm)) {
    const auto message = checked_message(comm, envelope, buffer, &sent, payload, mine);
    try {
      wait_with_timeout(comm, *message, envelope, buffer);
    } catch (const Error&) {
      if (sent.signature == Description::sign && sent.number == at_once) take_away(comm, sent);
      throw;
    }
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
