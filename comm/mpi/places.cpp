// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "places.hpp"

#include <kontor/comm/mpi_check.hpp>

namespace kontor::comm::mpi {

std::vector<MPI_Aint> trade_places(MPI_Comm comm, std::span<const Transfer> receives,
                                   std::span<const MPI_Aint> mine, std::span<const Transfer> sends) {
  std::vector<MPI_Aint> theirs(sends.size());
  std::vector<MPI_Request> requests(sends.size() + receives.size());
  auto* request = requests.data();
  for (std::size_t i = 0; i < sends.size(); ++i)
    check(MPI_Irecv(&theirs[i], 1, MPI_AINT, sends[i].peer, sends[i].tag, comm, request++), "MPI_Irecv");
  for (std::size_t i = 0; i < receives.size(); ++i)
    check(MPI_Isend(&mine[i], 1, MPI_AINT, receives[i].peer, receives[i].tag, comm, request++), "MPI_Isend");
  check(MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE), "MPI_Waitall");
  return theirs;
}

} // namespace kontor::comm::mpi
