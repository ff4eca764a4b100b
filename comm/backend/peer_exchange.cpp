// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backend/peer_exchange.hpp"

#include <kontor/comm/mpi_check.hpp>

namespace kontor::comm::mpi {

void peer_exchange_bytes(MPI_Comm comm, std::span<const Transfer> by_me, const void* info,
                         std::span<const Transfer> to_me, void* received, int bytes) {
  std::vector<MPI_Request> requests(to_me.size() + by_me.size());
  auto* request = requests.data();
  auto* in = static_cast<std::byte*>(received);
  for (const auto& t : to_me) {
    check(MPI_Irecv(in, bytes, MPI_BYTE, t.peer, t.tag, comm, request++), "MPI_Irecv");
    in += bytes;
  }
  const auto* out = static_cast<const std::byte*>(info);
  for (const auto& t : by_me) {
    check(MPI_Isend(out, bytes, MPI_BYTE, t.peer, t.tag, comm, request++), "MPI_Isend");
    out += bytes;
  }
  check(MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE), "MPI_Waitall");
}

} // namespace kontor::comm::mpi
