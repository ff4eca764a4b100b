// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Messages and collectives of Views in device memory.
#include "collective_forms.hpp"
#include "device_views.hpp"
#include "host_collectives.hpp"

namespace kontor::comm::test::on_device {
namespace {

/// Of Views in one piece and of strided ones.
TEST(DeviceCalls, DeliverWhatThoseOfTheHostDeliver) {
  with_each_method([](const Communicator& comm) {
    for (const bool strided : {false, true}) {
      const auto make = [&]<std::size_t rank>(const char* label, const Index<rank>& extents) {
        return strided ? inside<double, Left>(label, extents) : whole<double, Left>(label, extents);
      };
      const Index<1> few{n};
      const Index<2> all{n, static_cast<std::size_t>(comm.size())};
      const auto part = make("part", few), result = make("result", few);
      DeviceViews place;
      expect_delivered<Calls::every>(comm, place, part, result);
      expect_parts(comm, place, part, make("whole", all), make("other", all));
      expect_reductions<double>(comm, place, part, result, TwinOp{ReduceOp::sum, MPI_SUM, MPI_DOUBLE});
      const auto greater = commutative([](const double& a, const double& b) { return a > b ? a : b; });
      expect_reductions<double>(comm, place, part, result, TwinOp{greater, MPI_MAX, MPI_DOUBLE});
    }
  });
}

/// Calls are ordered with the kernels of the instance that they get; and a message may arrive in the other memory.
TEST(DeviceCalls, OnAnInstance) {
  with_each_method([](const Communicator& comm) {
    const auto [previous, next] = ring_of(comm);
    const device::OwnedStream<Space> stream;
    const Row out("out", n), in("in", n);
    set(out, 1, 1, stream.get());
    sendrecv({comm, stream.get()}, out, next, in, previous);
    allreduce({comm, stream.get()}, in, ReduceOp::sum);
    EXPECT_EQ(wrong(in, comm.size(), comm.size(), stream.get()), 0);
    auto to_host = irecv(comm, Host("host", n), previous);
    send(comm, out, next);
    EXPECT_EQ(to_host.wait()(n - 1), n);
  });
}

/// What a backend does on a stream, here on the host.
TEST(DeviceCalls, ByTheBackend) {
  if (has_device) GTEST_SKIP() << "the backends of devices are tried by the others";
  const Communicator comm(MPI_COMM_WORLD);
  const int ranks = comm.size();
  const int rank = comm.rank();
  HostCollectives backend(comm.native());
  const Row part("part", n), whole("whole", n * ranks), other("other", n * ranks);
  const On<Row> on(comm);
  using detail::Kind;
  const auto of_sum = [](const Kind& kind, int root = 0) { return detail::reduction<Row>(kind, ReduceOp::sum, root); };
  /// Element i of `result` is then first + step * i.
  const auto expect = [&](const auto& result, double first, double step, const detail::Collective& collective,
                          const auto&... views) {
    EXPECT_TRUE(detail::queue(on, &backend, collective, views...));
    EXPECT_EQ(wrong(result, first, step), 0);
  };
  set(part, 1);
  expect(part, ranks, ranks, of_sum(Kind::allreduce), part);
  set(part, 1);
  const int reduced = rank == ranks - 1 ? ranks : 1;
  expect(part, reduced, reduced, of_sum(Kind::reduce, ranks - 1), part);
  set(part, rank);
  expect(part, ranks - 1, 1, {.kind = Kind::bcast, .root = ranks - 1}, part);
  set(part, n * rank);
  expect(whole, 0, 1, {.kind = Kind::allgather}, part, whole);
  set(whole, -1, 0);
  set(Kokkos::subview(whole, std::pair(n * rank, n * rank + n)), n * rank);
  expect(whole, 0, 1, {.kind = Kind::allgather}, whole);
  set(whole, rank, 0);
  const auto from_last = Kokkos::subview(other, std::pair(n * (ranks - 1), n * ranks));
  expect(from_last, ranks - 1, 0, {.kind = Kind::alltoall}, whole, other);
  EXPECT_FALSE(detail::queue(on, &backend, {.kind = Kind::alltoall}, whole));

  FewCollectives few(comm.native());
  EXPECT_FALSE(detail::queue(on, &few, of_sum(Kind::allreduce), part));
  EXPECT_FALSE(detail::queue(on, &few, {.kind = Kind::bcast, .root = 0}, part));
}

} // namespace
} // namespace kontor::comm::test::on_device
