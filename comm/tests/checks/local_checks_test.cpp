// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Check level `local`: what one rank sees alone is an error in words, before MPI is called.
#include "error_text.hpp"
#include "methods.hpp"

#include <kontor/comm/comm.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace kontor::comm::test {
namespace {

using Ints = Kokkos::View<int*, Kokkos::HostSpace>;
using Nowhere = Kokkos::View<int*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

class LocalChecks : public testing::Test {
 protected:
  Communicator comm{MPI_COMM_WORLD};
  Ints view{"view", 3};
  int size = comm.size();
  std::string ranks = fmt::format("ranks are 0 to {}; no_rank says there is none", size - 1);
  std::string tags = fmt::format("tags are 0 to {} with this MPI", comm.tag_limit());
};

TEST_F(LocalChecks, Peers) {
  EXPECT_EQ(text_of<CallError>([&] { send(comm, view, size); }),
            fmt::format("send to rank {} (tag 0) of View 'view', (3) int32: {}", size, ranks));
  EXPECT_EQ(text_of<CallError>([&] { isend(comm, view, any_source).wait(); }),
            "isend to any rank (tag 0) of View 'view', (3) int32: " + ranks);
  EXPECT_EQ(text_of<CallError>([&] { recv(comm, view, -7); }),
            "recv from rank -7 (tag 0) of View 'view', (3) int32: " + ranks +
                ", any_source takes whoever has sent");
  EXPECT_EQ(
      text_of<CallError>([&] { sendrecv(comm, view, 0, view, size); }),
      fmt::format("sendrecv from rank {} (tag 0) of View 'view', (3) int32: {}, any_source takes whoever has "
                  "sent",
                  size, ranks));
  EXPECT_EQ(text_of<CallError>([&] { probe(comm, size); }),
            fmt::format("probe from rank {} (any tag): {}, any_source takes whoever has sent", size, ranks));
  EXPECT_EQ(text_of<CallError>([&] { recv_with_extents<Ints>(comm, size); }),
            fmt::format("recv_with_extents from rank {} (tag 0): {}, any_source takes whoever has sent", size,
                        ranks));
}

TEST_F(LocalChecks, Tags) {
  EXPECT_EQ(text_of<CallError>([&] { send(comm, view, 0, any_tag); }),
            "send to rank 0 (any tag) of View 'view', (3) int32: " + tags);
  EXPECT_EQ(text_of<CallError>([&] { irecv(comm, view, 0, -2).wait(); }),
            "irecv from rank 0 (tag -2) of View 'view', (3) int32: " + tags +
                "; any_tag takes whatever the message has");
  EXPECT_EQ(text_of<CallError>([&] { send_with_extents(comm, view, 0, -2); }),
            "send_with_extents to rank 0 (tag -2) of View 'view', (3) int32: " + tags);
  if (comm.tag_limit() == std::numeric_limits<int>::max()) return;
  EXPECT_EQ(text_of<CallError>([&] { send(comm, view, 0, comm.tag_limit() + 1); }),
            fmt::format("send to rank 0 (tag {}) of View 'view', (3) int32: {}", comm.tag_limit() + 1, tags));
}

TEST_F(LocalChecks, NoMemory) {
  EXPECT_EQ(
      text_of<CallError>([&] { isendrecv(comm, view, 0, Nowhere(nullptr, 4), 0).wait(); }),
      "isendrecv from rank 0 (tag 0) of View '', (4) int32: it has elements but no memory (its data pointer "
      "is null)");
  sendrecv(comm, Nowhere(nullptr, 0), 0, Nowhere(nullptr, 0), comm.rank() == 0 ? any_source : no_rank, 3);
  for (int n = 1; n < size && comm.rank() == 0; ++n) recv(comm, Nowhere(nullptr, 0), any_source, 3);
}

TEST_F(LocalChecks, ElementsShareMemory) {
  using Strided = Kokkos::View<int**, Kokkos::LayoutStride, Kokkos::HostSpace>;
  const Ints storage("storage", 24);
  const Strided apart(storage.data(), Kokkos::LayoutStride(3, 4, 4, 1));
  for (const auto& [layout, strides] : {std::pair(Kokkos::LayoutStride(3, 1, 4, 1), "1, 1"),
                                        std::pair(Kokkos::LayoutStride(3, 2, 3, 2), "2, 2"),
                                        std::pair(Kokkos::LayoutStride(3, 0, 4, 1), "0, 1")}) {
    const Strided shared(storage.data(), layout);
    const auto why = fmt::format("some of its elements share memory (strides {})", strides);
    const auto expect_refused = [&, why = why](const auto& operation) {
      const auto text = text_of<CallError>(operation);
      EXPECT_NE(text.find(why), std::string::npos) << text;
    };
    expect_refused([&] { recv(comm, shared, 0); });
    expect_refused([&] { irecv(comm, shared, 0).wait(); });
    expect_refused([&] { sendrecv(comm, apart, 0, shared, 0); });
    expect_refused([&] { allreduce(comm, shared, ReduceOp::sum); });
    expect_refused([&] { iallreduce(comm, apart, shared, ReduceOp::sum).wait(); });
    expect_refused([&] { scatter(comm, Ints("whole", 12 * size), shared, comm.rank()); });
  }
  const Strided columns(storage.data() + 12, Kokkos::LayoutStride(3, 1, 4, 3));
  sendrecv(comm, apart, comm.rank(), columns, comm.rank());
  const Strided same(storage.data(), Kokkos::LayoutStride(3, 0, 4, 1)); // may be read
  sendrecv(comm, same, comm.rank(), columns, comm.rank());
}

TEST_F(LocalChecks, PackingNone) {
  Options options;
  options.packing = Packing::none;
  const Communicator strict(MPI_COMM_WORLD, options);
  const Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::HostSpace> array("array", 4, 5);
  EXPECT_EQ(
      text_of<CallError>([&] { send(strict, Kokkos::subview(array, Kokkos::ALL, 1), 0); }),
      "send: View 'array', (4) double, does not lie in one piece, and packing is 'none'; choose packing "
      "'kernel', or a contiguous View");
}

/// At level `off` it is MPI that refuses.
TEST_F(LocalChecks, Off) {
  Options options;
  options.check = CheckLevel::off;
  const Communicator unchecked(MPI_COMM_WORLD, options);
  EXPECT_EQ(text_of<MpiError>([&] { send(unchecked, view, size); }),
            fmt::format("send to rank {} (tag 0) of View 'view', (3) int32: MPI_Send failed: {}", size,
                        mpi_text(MPI_ERR_RANK)));
}

} // namespace
} // namespace kontor::comm::test
