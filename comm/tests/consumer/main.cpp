// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sends its rank around the ring by backend `view`, or by `raw` where that is not in the build.
#include <kontor/comm/comm.hpp>

#include <cstdio>

int run(const char* backend) {
  kontor::comm::Options options;
  options.backend = backend;
  const kontor::comm::Communicator comm(MPI_COMM_WORLD, options);
  const int next = (comm.rank() + 1) % comm.size();
  const int previous = (comm.rank() + comm.size() - 1) % comm.size();
  const Kokkos::View<int*> out("out", 4), in("in", 4);
  Kokkos::deep_copy(out, comm.rank());
  kontor::comm::Exchange<Kokkos::View<int*>> exchange(comm, "ring");
  exchange.add(out, next, in, previous);
  exchange.commit();
  exchange.start();
  exchange.finish();
  return kontor::comm::allreduce(comm, in(3), kontor::comm::ReduceOp::sum) - comm.size() * (comm.size() - 1) / 2;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int status = 0;
  {
    Kokkos::ScopeGuard kokkos(argc, argv);
    try {
      status = run("view");
    } catch (const kontor::comm::UsageError& error) {
      std::printf("%s\n", error.what());
      status = run("raw");
    }
    std::printf("the ring is %s\n", status == 0 ? "closed" : "broken");
  }
  MPI_Finalize();
  return status;
}
