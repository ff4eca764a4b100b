// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Messages and collectives of Views in device memory.
#include "collective_forms.hpp"
#include "device_views.hpp"
#include "host_collectives.hpp"

namespace kontor::comm::test::on_device {
namespace {

TEST(DeviceCalls, PointToPoint) {
  with_each_method([](const Communicator& comm) {
    with_each_view([&](const auto& out, const auto& in) {
      const auto [previous, next] = ring_of(comm);
      const double mine = 100 * comm.rank();
      const double theirs = 100 * previous;
      const auto expect = [&](const char* call) {
        EXPECT_EQ(wrong(in, theirs), 0) << call;
        set(in, -1, 0);
      };
      const device::OwnedStream<Space> stream;
      set(out, mine);
      sendrecv(comm, out, next, in, previous);
      expect("sendrecv");
      set(out, mine, 1, stream.get());
      sendrecv({comm, stream.get()}, out, next, in, previous);
      expect("sendrecv on an instance");
      auto sent = isend(comm, out, next);
      recv(comm, in, previous);
      sent.wait();
      expect("isend, recv");
      auto received = irecv(comm, in, previous);
      send(comm, out, next);
      received.wait();
      expect("irecv, send");
      auto to_host = irecv(comm, Host("host", n), previous);
      send(comm, out, next);
      const auto host = to_host.wait();
      EXPECT_EQ(host(n - 1), theirs + n - 1);
      auto any = irecv(comm, in, any_source, 6);
      sent = isend(comm, out, next, 6);
      while (!test_all(any, sent)) {
      }
      EXPECT_EQ(any.status().source, previous);
      any.wait();
      expect("test_all");
      if (comm.size() == 1) return; // a message to itself would wait for its receive
      if (comm.rank() % 2 == 0) send_with_extents({comm, stream.get()}, out, next);
      const auto made = recv_with_extents<Row>(comm, previous);
      if (comm.rank() % 2 != 0) send_with_extents(comm, out, next);
      EXPECT_EQ(made.size(), n);
      EXPECT_EQ(wrong(made, theirs), 0);
    });
  });
}

TEST(DeviceCalls, Reductions) {
  with_each_method([](const Communicator& comm) {
    with_each_view([&](const auto& in, const auto& out) {
      const int ranks = comm.size();
      const int rank = comm.rank();
      const auto sum = ReduceOp::sum;
      const auto plus = commutative([](const double& a, const double& b) { return a + b; });
      const auto prepare = [&] {
        set(in, 1);
        set(out, -1, 0);
      };
      const auto expect = [&](const Forms& forms, const auto& view, double first, double step) {
        in_all_forms(prepare, forms, [&](const char* form) { EXPECT_EQ(wrong(view, first, step), 0) << form; });
      };
      expect(KONTOR_FORMS(allreduce, comm, in, out, sum), out, ranks, ranks);
      expect(KONTOR_FORMS(allreduce, comm, in, out, plus), out, ranks, ranks);
      expect(KONTOR_FORMS(scan, comm, in, out, sum), out, rank + 1, rank + 1);
      expect(KONTOR_FORMS(exscan, comm, in, out, sum), out, rank > 0 ? rank : -1, rank);
      for (int root = 0; root < ranks; ++root) {
        const bool here = rank == root;
        expect(KONTOR_FORMS(reduce, comm, in, out, sum, root), out, here ? ranks : -1, here ? ranks : 0);
        expect(KONTOR_FORMS(reduce, comm, in, sum, root), in, here ? ranks : 1, here ? ranks : 1);
      }
      const device::OwnedStream<Space> stream;
      set(in, 1, 1, stream.get());
      allreduce({comm, stream.get()}, in, sum);
      EXPECT_EQ(wrong(in, ranks, ranks, stream.get()), 0);
    });
  });
}

TEST(DeviceCalls, Collectives) {
  with_each_method([](const Communicator& comm) {
    const int ranks = comm.size();
    const int rank = comm.rank();
    const Row part("part", n), whole("whole", n * ranks), other("other", n * ranks);
    const auto own = Kokkos::subview(whole, std::pair(n * rank, n * rank + n));
    const auto first = Kokkos::subview(whole, std::pair(0, n));
    const auto from_last = Kokkos::subview(other, std::pair(n * (ranks - 1), n * ranks));
    const Counts counts(std::vector<int>(ranks, n));
    /// Element i is first + step * i.
    struct Line {
      double first = -1;
      double step = 0;
    };
    const auto expect = [&](const Forms& forms, const Row& view, Line expected, Line given = {}) {
      const auto prepare = [&] {
        set(part, n * rank);
        set(whole, given.first, given.step);
        set(other, -1, 0);
      };
      in_all_forms(prepare, forms,
                   [&](const char* form) { EXPECT_EQ(wrong(view, expected.first, expected.step), 0) << form; });
    };
    for (int root = 0; root < ranks; ++root) {
      const auto gathered = rank == root ? Line{0, 1} : Line{};
      expect(KONTOR_FORMS(bcast, comm, part, root), part, {1. * n * root, 1});
      expect(KONTOR_FORMS(gather, comm, part, whole, root), whole, gathered);
      expect(KONTOR_FORM(gatherv, comm, part, whole, counts, root), whole, gathered);
      expect(KONTOR_FORMS(scatter, comm, whole, part, root), part, {1. + n * rank, 1}, {1, 1});
      expect(KONTOR_FORM(scatterv, comm, whole, counts, part, root), part, {1. + n * rank, 1}, {1, 1});
    }
    expect(KONTOR_FORMS(allgather, comm, part, whole), whole, {0, 1});
    expect(KONTOR_FORM(allgatherv, comm, part, whole, counts), whole, {0, 1});
    const Line mine{1. * rank, 0}, of_last{ranks - 1., 0};
    expect(KONTOR_FORMS(alltoall, comm, whole, other), from_last, of_last, mine);
    expect(KONTOR_FORM(alltoallv, comm, whole, counts, other, counts), from_last, of_last, mine);
    expect(KONTOR_FORMS(alltoall, comm, whole), first, {0, 0}, mine);
    set(whole, -1, 0);
    set(own, n * rank);
    allgather(comm, whole);
    EXPECT_EQ(wrong(whole, 0), 0);
    set(part, n * rank);
    const auto gathered = allgatherv_with_counts(comm, part);
    EXPECT_EQ(gathered.data.size(), whole.size());
    EXPECT_EQ(wrong(gathered.data, 0), 0);
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
