// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What set-up costs on many ranks: a communicator, a process grid, and commit() of the halo of a 2-D field,
// with 8 neighbours. Prints seconds on the slowest rank, by MPI's clock, so that it can be run in a
// simulator; `commit again` is a second exchange on the same communicator. MPI_Comm_dup and MPI_Ibarrier are
// timed beside them: what they cost is the MPI library's.
#include <kontor/comm/comm.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

namespace {

using namespace kontor::comm;
using Plane = Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::HostSpace>;
using Halo = Exchange<Plane>;

constexpr int n = 16; ///< cells of a rank's block along each side
#ifdef KONTOR_SMPI
constexpr int splits = 1; ///< a simulator's time is the same each time
#else
constexpr int splits = 20;
#endif

/// What is sent to the neighbour in this direction lies in cells 1 to n, what comes from it in 0 or n + 1.
std::pair<int, int> sent(int direction) {
  return direction < 0 ? std::pair(1, 2) : direction > 0 ? std::pair(n, n + 1) : std::pair(1, n + 1);
}
std::pair<int, int> received(int direction) {
  return direction < 0 ? std::pair(0, 1) : direction > 0 ? std::pair(n + 1, n + 2) : std::pair(1, n + 1);
}

void commit_halo(const Communicator& comm, const Plane& field) {
  Halo halo(comm, "halo");
  for (int i = -1; i <= 1; ++i) {
    for (int j = -1; j <= 1; ++j) {
      if (i == 0 && j == 0) continue;
      const auto& here = comm.coordinates();
      const int destination = comm.rank_at({here[0] + i, here[1] + j});
      const int source = comm.rank_at({here[0] - i, here[1] - j});
      halo.add(Kokkos::subview(field, sent(i), sent(j)), destination,
               Kokkos::subview(field, received(-i), received(-j)), source);
    }
  }
  halo.commit();
}

/// Seconds on the slowest rank.
template <class Part>
double timed(const Part& part) {
  MPI_Barrier(MPI_COMM_WORLD);
  double seconds = -MPI_Wtime();
  part();
  seconds += MPI_Wtime();
  MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return seconds;
}

void measure() {
  const Plane field("field", n + 2, n + 2);
  std::optional<Communicator> world, grid;
  const auto communicator = timed([&] { world.emplace(MPI_COMM_WORLD); });
  const auto dims = balanced_dims(world->size(), {0, 0});
  const auto cartesian = timed([&] { grid.emplace(*world, dims, std::vector<bool>{false, false}); });
  const auto commit = timed([&] { commit_halo(*grid, field); });
  const auto again = timed([&] { commit_halo(*grid, field); });
  Options automatic;
  automatic.backend = automatic_backend;
  automatic.pattern = Pattern::automatic;
  const Communicator chooser(MPI_COMM_WORLD, automatic);
  double split = 0;
  for (int i = 0; i < splits; ++i) {
    const auto seconds = timed([&] { static_cast<void>(chooser.split(chooser.rank() % 2)); });
    split = i == 0 ? seconds : std::min(split, seconds);
  }
  const auto duplicate = timed([&] {
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_free(&comm);
  });
  const auto barrier = timed([&] {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  });
  if (world->rank() != 0) return;
  const auto print = [](const char* what, double seconds) {
    fmt::print("{:<40}{:>12.1f} us\n", what, 1e6 * seconds);
  };
  fmt::print("{} ranks, the slowest\n", world->size());
  print("communicator", communicator);
  print("process grid", cartesian);
  print("commit of a halo", commit);
  print("commit of another", again);
  print(fmt::format("split, 'auto', the fastest of {}", splits).c_str(), split);
  print("MPI_Comm_dup", duplicate);
  print("MPI_Ibarrier and MPI_Wait", barrier);
}

} // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  {
    const Kokkos::ScopeGuard kokkos(argc, argv);
    measure();
  }
  MPI_Finalize();
}
