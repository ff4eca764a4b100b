// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Messages whose MPI functions fail: by order of the test, and truly.
#include "faults.hpp"

namespace kontor::comm::test {
namespace {

class MessageFaults : public FaultsInARing {
 protected:
  std::string to(const char* operation, int tag) {
    return fmt::format("{} to rank {} (tag {}) of View 'out', (3) int32", operation, next, tag);
  }
  std::string from(const char* operation, int tag) {
    return fmt::format("{} from rank {} (tag {}) of View 'in', (3) int32", operation, previous, tag);
  }
};

TEST_F(MessageFaults, Blocking) {
  auto sending = isend(comm, out, next, 5);
  expect_failing("MPI_Recv", from("recv", 5), [&] { recv(comm, in, previous, 5); });
  sending.wait();
  auto receiving = irecv(comm, in, previous, 6);
  expect_failing("MPI_Send", to("send", 6), [&] { send(comm, out, next, 6); });
  receiving.wait();
  expect_failing("MPI_Sendrecv", to("sendrecv", 0) + ", " + from("sendrecv", 0),
                 [&] { sendrecv(comm, out, next, in, previous); });
}

/// The receive that has begun already is taken back.
TEST_F(MessageFaults, Begin) {
  expect_failing("MPI_Irecv", from("isendrecv", 0), [&] { isendrecv(comm, out, next, in, previous).wait(); });
  expect_failing("MPI_Isend", to("isendrecv", 2), [&] { isendrecv(comm, out, next, in, previous, 2).wait(); });
  expect_failing("MPI_Isend", to("isend", 0), [&] { isend(comm, out, next).wait(); });
}

TEST_F(MessageFaults, Waits) {
  auto receiving = irecv(comm, in, previous, 4);
  send(comm, out, next, 4);
  expect_failing("MPI_Wait", from("irecv", 4), [&] { receiving.wait(); });
  EXPECT_FALSE(receiving.active());

  receiving = irecv(comm, in, previous);
  send(comm, out, next);
  expect_failing("MPI_Test", from("irecv", 0), [&] {
    while (!receiving.test()) {
    }
  });
}

/// Those that have not failed are complete.
TEST_F(MessageFaults, Pools) {
  for (const std::string function : {"MPI_Waitall", "MPI_Waitany", "MPI_Waitsome"}) {
    SCOPED_TRACE(function);
    std::vector<Request<Ints>> pool;
    pool.push_back(isend(comm, out, next, 3));
    pool.push_back(irecv(comm, in, previous, 3));
    MPI_Barrier(comm.native());
    const auto text = text_of_failing(function.c_str(), 1, [&] {
      if (function == "MPI_Waitall") wait_all(pool);
      if (function == "MPI_Waitany") wait_any(pool);
      if (function == "MPI_Waitsome") wait_some(pool);
    });
    const auto failed = ": " + function + " failed: " + other;
    EXPECT_TRUE(text == from("irecv", 3) + failed || text == to("isend", 3) + failed) << text;
    EXPECT_FALSE(pool[0].active() && pool[1].active());
    EXPECT_TRUE(pool[0].finished() || function != "MPI_Waitall");
    wait_all(pool);
  }
}

TEST_F(MessageFaults, Probes) {
  expect_failing("MPI_Probe", "probe from rank 0 (tag 3)", [&] { probe(comm, 0, 3); });
  expect_failing("MPI_Iprobe", "iprobe from any rank (any tag)", [&] { iprobe(comm); });
}

/// At check level `cross_rank` other functions are called.
TEST_F(MessageFaults, Checked) {
  const Communicator checked(MPI_COMM_WORLD, {.check = CheckLevel::cross_rank});
  expect_failing("MPI_Issend", to("isend", 0), [&] { isend(checked, out, next).wait(); });
  expect_failing("MPI_Irecv", from("irecv", 0), [&] { irecv(checked, in, previous).wait(); });
}

/// A real one: the message is longer than the View.
TEST_F(MessageFaults, Truncated) {
  const Ints longer("longer", 10);
  auto sending = isend(comm, longer, next);
  EXPECT_EQ(text_of<MpiError>([&] { recv(comm, in, previous); }),
            from("recv", 0) + ": MPI_Recv failed: " + mpi_text(MPI_ERR_TRUNCATE));
  sending.wait();
}

} // namespace
} // namespace kontor::comm::test
