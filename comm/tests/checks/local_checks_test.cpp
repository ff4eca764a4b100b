// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Check level `local`: what one rank sees alone is an error in words, before MPI is called.
#include "comm_test.hpp"

#include <limits>

namespace kontor::comm::test {
namespace {

using Nowhere = Kokkos::View<int*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

class LocalChecks : public OnRing {
 protected:
  Ints view{"view", 3};
  std::string peers = fmt::format("ranks are 0 to {}; no_rank says there is none", last);
  std::string tags = fmt::format("tags are 0 to {} with this MPI", comm.tag_limit());

  template <class Operation>
  static void expect_refused(Operation operation, const std::string& text) {
    EXPECT_EQ(text_of<CallError>(operation), text);
  }
};

TEST_F(LocalChecks, Peers) {
  const auto of_view = " (tag 0) of View 'view', (3) int32: " + peers;
  const std::string or_any = ", any_source takes whoever has sent";
  expect_refused([&] { send(comm, view, ranks); }, fmt::format("send to rank {}", ranks) + of_view);
  expect_refused([&] { isend(comm, view, any_source).wait(); }, "isend to any rank" + of_view);
  expect_refused([&] { recv(comm, view, -7); }, "recv from rank -7" + of_view + or_any);
  expect_refused([&] { sendrecv(comm, view, 0, view, ranks); },
                 fmt::format("sendrecv from rank {}", ranks) + of_view + or_any);
  expect_refused([&] { probe(comm, ranks); }, fmt::format("probe from rank {} (any tag): {}", ranks, peers) + or_any);
  expect_refused([&] { recv_with_extents<Ints>(comm, ranks); },
                 fmt::format("recv_with_extents from rank {} (tag 0): {}", ranks, peers) + or_any);
}

TEST_F(LocalChecks, Tags) {
  const auto of_view = " of View 'view', (3) int32: " + tags;
  expect_refused([&] { send(comm, view, 0, any_tag); }, "send to rank 0 (any tag)" + of_view);
  expect_refused([&] { irecv(comm, view, 0, -2).wait(); },
                 "irecv from rank 0 (tag -2)" + of_view + "; any_tag takes whatever the message has");
  expect_refused([&] { send_with_extents(comm, view, 0, -2); }, "send_with_extents to rank 0 (tag -2)" + of_view);
  const int limit = comm.tag_limit();
  if (limit == std::numeric_limits<int>::max()) return;
  expect_refused([&] { send(comm, view, 0, limit + 1); }, fmt::format("send to rank 0 (tag {})", limit + 1) + of_view);
}

TEST_F(LocalChecks, NoMemory) {
  EXPECT_EQ(text_of<CallError>([&] { isendrecv(comm, view, 0, Nowhere(nullptr, 4), 0).wait(); }),
            "isendrecv from rank 0 (tag 0) of View '', (4) int32: it has elements but no memory (its data pointer "
            "is null)");
  sendrecv(comm, Nowhere(nullptr, 0), 0, Nowhere(nullptr, 0), comm.rank() == 0 ? any_source : no_rank, 3);
  for (int n = 1; n < ranks && comm.rank() == 0; ++n) recv(comm, Nowhere(nullptr, 0), any_source, 3);
}

TEST_F(LocalChecks, ElementsShareMemory) {
  using Strided = HostView<int**, Stride>;
  const Ints storage("storage", 24);
  const Strided apart(storage.data(), Stride(3, 4, 4, 1));
  for (const auto& [layout, strides] : {std::pair(Stride(3, 1, 4, 1), "1, 1"), std::pair(Stride(3, 2, 3, 2), "2, 2"),
                                        std::pair(Stride(3, 0, 4, 1), "0, 1")}) {
    const Strided shared(storage.data(), layout);
    const auto why = fmt::format("some of its elements share memory (strides {})", strides);
    const auto expect_shared = [&, why = why](const auto& operation) {
      const auto text = text_of<CallError>(operation);
      expect_facts(text, {why});
    };
    expect_shared([&] { recv(comm, shared, 0); });
    expect_shared([&] { irecv(comm, shared, 0).wait(); });
    expect_shared([&] { sendrecv(comm, apart, 0, shared, 0); });
    expect_shared([&] { allreduce(comm, shared, ReduceOp::sum); });
    expect_shared([&] { iallreduce(comm, apart, shared, ReduceOp::sum).wait(); });
    expect_shared([&] { scatter(comm, Ints("whole", 12 * ranks), shared, comm.rank()); });
  }
  const Strided columns(storage.data() + 12, Stride(3, 1, 4, 3));
  sendrecv(comm, apart, comm.rank(), columns, comm.rank());
  const Strided same(storage.data(), Stride(3, 0, 4, 1)); // may be read
  sendrecv(comm, same, comm.rank(), columns, comm.rank());
}

TEST_F(LocalChecks, PackingNone) {
  const Communicator strict(MPI_COMM_WORLD, {.packing = Packing::none});
  const Plane array("array", 4, 5);
  EXPECT_EQ(text_of<CallError>([&] { send(strict, Kokkos::subview(array, Kokkos::ALL, 1), 0); }),
            "send: View 'array', (4) double, does not lie in one piece, and packing is 'none'; choose packing "
            "'kernel', or a contiguous View");
}

/// At level `off` it is MPI that refuses.
TEST_F(LocalChecks, Off) {
  const Communicator unchecked(MPI_COMM_WORLD, {.check = CheckLevel::off});
  EXPECT_EQ(text_of<MpiError>([&] { send(unchecked, view, ranks); }),
            fmt::format("send to rank {} (tag 0) of View 'view', (3) int32: MPI_Send failed: {}", ranks,
                        mpi_text(MPI_ERR_RANK)));
}

} // namespace
} // namespace kontor::comm::test
