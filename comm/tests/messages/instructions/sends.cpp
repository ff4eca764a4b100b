// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The same sends in plain MPI and typed, for a tool that counts instructions. What MPI itself does is not the question:
// here it does nothing.
#include <kontor/comm/point_to_point.hpp>

#include <cstdlib>

namespace {

using Line = Kokkos::View<double*, Kokkos::HostSpace>;
using Block = Kokkos::View<double***, Kokkos::LayoutRight, Kokkos::HostSpace>;

} // namespace

// By these names the tool finds them.
extern "C" {
/// Weak, and so a call that the compiler does not see through, as MPI's is.
[[gnu::weak]] int MPI_Send(const void*, int, MPI_Datatype, int, int, MPI_Comm) { return MPI_SUCCESS; }
[[gnu::noinline]] void plain_sends(MPI_Comm comm, const double* data, int count, int times) {
  for (int n = 0; n < times; ++n)
    if (MPI_Send(data, count, MPI_DOUBLE, 0, 0, comm) != MPI_SUCCESS) std::abort();
}
[[gnu::noinline]] void typed_sends_1(const kontor::comm::Communicator& comm, const Line& view, int times) {
  for (int n = 0; n < times; ++n) kontor::comm::send(comm, view, 0);
}
[[gnu::noinline]] void typed_sends_3(const kontor::comm::Communicator& comm, const Block& view, int times) {
  for (int n = 0; n < times; ++n) kontor::comm::send(comm, view, 0);
}
}

int main(int argc, char** argv) {
  const int times = argc > 1 ? std::atoi(argv[1]) : 1;
  MPI_Init(&argc, &argv);
  Kokkos::initialize(argc, argv);
  {
    const kontor::comm::Communicator comm(MPI_COMM_SELF);
    const Line line("line", 60);
    const Block block("block", 3, 4, 5);
    plain_sends(comm.native(), line.data(), 60, times);
    typed_sends_1(comm, line, times);
    typed_sends_3(comm, block, times);
  }
  Kokkos::finalize();
  MPI_Finalize();
}
