// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "delivery.hpp"

#include <kontor/comm/communicator.hpp>

#include <utility>

namespace kontor::comm::test {

Bytes delivered(MPI_Comm comm, const Watched& send, int destination, const Watched& receive, int source) {
  const auto peer = [](int rank) { return rank == no_rank ? MPI_PROC_NULL : rank; };
  const auto out = send.elements();
  auto in = receive.elements();
  MPI_Sendrecv(out.data(), send.bytes(), MPI_BYTE, peer(destination), 0, in.data(), receive.bytes(), MPI_BYTE,
               peer(source), 0, comm, MPI_STATUS_IGNORE);
  return in;
}

Delivery::Delivery(Watched send, Watched receive) : send_(std::move(send)), receive_(std::move(receive)) {}

void Delivery::prepare(MPI_Comm comm, int destination, int source, int step, int number) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  const auto seed = static_cast<std::uint64_t>(1000 * rank + 10 * step + 2 * number);
  send_.fill(seed);
  receive_.fill(seed + 1);
  expected_ = delivered(comm, send_, destination, receive_, source);
}

void Delivery::check() const {
  receive_.expect(expected_, "received");
  send_.expect_unchanged("sent");
}

} // namespace kontor::comm::test
