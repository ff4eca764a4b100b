// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What must not compile: each REFUSED_... adds one line that the layer refuses in words of its own. Without
// any of them the file compiles.
#include <kontor/comm/collectives.hpp>
#include <kontor/comm/exact_sum.hpp>
#include <kontor/comm/exchange.hpp>
#include <kontor/comm/point_to_point.hpp>
#include <kontor/comm/with_extents.hpp>

#include <string>
#include <vector>

namespace {

using Doubles = Kokkos::View<double*, Kokkos::HostSpace>;
using ConstDoubles = Kokkos::View<const double*, Kokkos::HostSpace>;
using Floats = Kokkos::View<float*, Kokkos::HostSpace>;
using Strings = Kokkos::View<std::string*, Kokkos::HostSpace>;

[[maybe_unused]] void refused(const kontor::comm::Communicator& comm, const Doubles& view) {
  kontor::comm::Exchange<Doubles> exchange(comm, "refused");
  exchange.add(ConstDoubles(view), 0, view, 0);
#ifdef REFUSED_CONST_RECEIVER
  exchange.add(view, 0, ConstDoubles(view), 0);
#endif
#ifdef REFUSED_ROWS
  exchange.add_send(view, Floats("floats", 1), 0);
#endif
#ifdef REFUSED_ROWS_OF_A_BOX
  const Kokkos::View<double***, Kokkos::HostSpace> box("box", 2, 2, 2);
  exchange.add_receive(box, std::pair(0, 1), 0);
#endif
#ifdef REFUSED_STRINGS
  kontor::comm::Exchange<Strings> strings(comm, "strings");
#endif
#ifdef REFUSED_POINTER
  exchange.add(view.data(), 0, view, 0);
#endif
#ifdef REFUSED_CONST_RESULT
  kontor::comm::bcast(comm, ConstDoubles(view), 0);
#endif
#ifdef REFUSED_NOT_A_VIEW
  kontor::comm::bcast(comm, view.data(), 0);
#endif
#ifdef REFUSED_MIXED_GATHER
  kontor::comm::gather(comm, Floats("floats", 1), view, 0);
#endif
#ifdef REFUSED_POINTER_VALUE
  kontor::comm::allreduce(comm, view.data(), kontor::comm::ReduceOp::sum);
#endif
#ifdef REFUSED_STATE
  const double weight = view(0);
  kontor::comm::allreduce(comm, view, [=](double a, double b) { return weight * (a + b); });
#endif
#ifdef REFUSED_FUNCTION
  double (*function)(const double&, const double&) = nullptr;
  kontor::comm::allreduce(comm, view, function);
#endif
#ifdef REFUSED_SIGNATURE
  kontor::comm::allreduce(comm, view, [](double a) { return a; });
#endif
#ifdef REFUSED_SENT_POINTER
  kontor::comm::send(comm, view.data(), 0);
#endif
#ifdef REFUSED_SENT_STRINGS
  kontor::comm::send(comm, Strings("strings", 1), 0);
#endif
#ifdef REFUSED_SENT_VECTOR
  kontor::comm::send(comm, std::vector<double>(), 0);
#endif
#ifdef REFUSED_ISENT_VECTOR
  kontor::comm::isend(comm, std::vector<double>(), 0).wait();
#endif
#ifdef REFUSED_ADDED_VECTOR
  exchange.add_send(std::vector<double>(), 0);
#endif
#ifdef REFUSED_BROADCAST_VALUE
  kontor::comm::bcast(comm, std::vector<double>(), 0);
#endif
#ifdef REFUSED_GATHERED_STRING
  kontor::comm::gather(comm, std::string("one"), 0);
#endif
#ifdef REFUSED_REDUCED_VECTOR
  kontor::comm::allreduce(comm, std::vector<double>(), kontor::comm::ReduceOp::sum);
#endif
#ifdef REFUSED_MPI_OP
  kontor::comm::allreduce(comm, view, MPI_SUM);
#endif
#ifdef REFUSED_CONST_RECV
  kontor::comm::recv(comm, ConstDoubles(view), 0);
#endif
#ifdef REFUSED_CONST_IRECV
  kontor::comm::irecv(comm, ConstDoubles(view), 0).wait();
#endif
#ifdef REFUSED_EXCHANGED_SCALARS
  kontor::comm::sendrecv(comm, Floats("floats", 1), 0, view, 0);
#endif
#ifdef REFUSED_MADE_STRIDED
  kontor::comm::recv_with_extents<Kokkos::View<double*, Kokkos::LayoutStride, Kokkos::HostSpace>>(comm, 0);
#endif
#ifdef REFUSED_MADE_UNMANAGED
  kontor::comm::recv_with_extents<
      Kokkos::View<double*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>>(comm, 0);
#endif
#ifdef REFUSED_DISCARDED
  kontor::comm::isend(comm, view, 0);
#endif
  const Kokkos::DefaultHostExecutionSpace instance;
  kontor::comm::ExactSums<Kokkos::DefaultHostExecutionSpace> sums(comm, "sums", 2);
  sums.add(instance, 0, 3, [](std::int64_t) { return 1.0f; });
#ifdef REFUSED_SUM_OF_BOOL
  sums.add(instance, 0, 3, [](std::int64_t i) { return i > 1; });
#endif
#ifdef REFUSED_SUMS_OF_INT
  sums.add<2>(instance, 0, 3, [](std::int64_t) { return Kokkos::Array<int, 2>{{1, 2}}; });
#endif
#ifdef REFUSED_COPY
  auto copy = exchange;
#endif
}

} // namespace
