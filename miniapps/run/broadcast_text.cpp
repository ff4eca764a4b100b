// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "run/broadcast_text.hpp"

#include <kontor/comm/backend/mpi_check.hpp>

#include <cstdint>

namespace kontor::miniapp {

using comm::mpi::check;

// By MPI itself: there are no Views before Kokkos is initialised.
std::string broadcast(MPI_Comm comm, std::string text) {
  auto length = static_cast<std::int64_t>(text.size());
  check(MPI_Bcast(&length, 1, MPI_INT64_T, 0, comm), "MPI_Bcast");
  text.resize(static_cast<std::size_t>(length));
  check(MPI_Bcast(text.data(), static_cast<int>(length), MPI_CHAR, 0, comm), "MPI_Bcast");
  return text;
}

} // namespace kontor::miniapp
