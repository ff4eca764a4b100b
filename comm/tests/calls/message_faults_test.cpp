// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Messages whose MPI functions fail: by order of the test, and truly.
#include "faults.hpp"

namespace kontor::comm::test {
namespace {

class MessageFaults : public FaultsInARing {
 protected:
  std::string to(const char* operation, int tag, const char* function) {
    return fmt::format("{} to rank {} (tag {}) of View 'out', (3) int32: {} failed: {}", operation, next, tag,
                       function, other);
  }
  std::string from(const char* operation, int tag, const char* function) {
    return fmt::format("{} from rank {} (tag {}) of View 'in', (3) int32: {} failed: {}", operation, previous,
                       tag, function, other);
  }
};

TEST_F(MessageFaults, Blocking) {
  auto sending = isend(comm, out, next, 5);
  EXPECT_EQ(text_of_failing("MPI_Recv", 1, [&] { recv(comm, in, previous, 5); }),
            from("recv", 5, "MPI_Recv"));
  sending.wait();
  auto receiving = irecv(comm, in, previous, 6);
  EXPECT_EQ(text_of_failing("MPI_Send", 1, [&] { send(comm, out, next, 6); }), to("send", 6, "MPI_Send"));
  receiving.wait();
  EXPECT_EQ(
      text_of_failing("MPI_Sendrecv", 1, [&] { sendrecv(comm, out, next, in, previous); }),
      fmt::format("sendrecv to rank {} (tag 0) of View 'out', (3) int32, sendrecv from rank {} (tag 0) of "
                  "View 'in', (3) int32: MPI_Sendrecv failed: {}",
                  next, previous, other));
}

/// The receive that has begun already is taken back.
TEST_F(MessageFaults, Begin) {
  EXPECT_EQ(text_of_failing("MPI_Irecv", 1, [&] { isendrecv(comm, out, next, in, previous).wait(); }),
            from("isendrecv", 0, "MPI_Irecv"));
  EXPECT_EQ(text_of_failing("MPI_Isend", 1, [&] { isendrecv(comm, out, next, in, previous, 2).wait(); }),
            to("isendrecv", 2, "MPI_Isend"));
  EXPECT_EQ(text_of_failing("MPI_Isend", 1, [&] { isend(comm, out, next).wait(); }),
            to("isend", 0, "MPI_Isend"));
}

TEST_F(MessageFaults, Waits) {
  auto receiving = irecv(comm, in, previous, 4);
  send(comm, out, next, 4);
  EXPECT_EQ(text_of_failing("MPI_Wait", 1, [&] { receiving.wait(); }), from("irecv", 4, "MPI_Wait"));
  EXPECT_FALSE(receiving.active());

  receiving = irecv(comm, in, previous);
  send(comm, out, next);
  EXPECT_EQ(text_of_failing("MPI_Test", 1,
                            [&] {
                              while (!receiving.test()) {
                              }
                            }),
            from("irecv", 0, "MPI_Test"));
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
    EXPECT_TRUE(text == from("irecv", 3, function.c_str()) || text == to("isend", 3, function.c_str()))
        << text;
    EXPECT_FALSE(pool[0].active() && pool[1].active());
    EXPECT_TRUE(pool[0].finished() || function != "MPI_Waitall");
    wait_all(pool);
  }
}

TEST_F(MessageFaults, Probes) {
  const auto failed = " failed: " + other;
  EXPECT_EQ(text_of_failing("MPI_Probe", 1, [&] { probe(comm, 0, 3); }),
            "probe from rank 0 (tag 3): MPI_Probe" + failed);
  EXPECT_EQ(text_of_failing("MPI_Iprobe", 1, [&] { iprobe(comm); }),
            "iprobe from any rank (any tag): MPI_Iprobe" + failed);
}

/// At check level `cross_rank` other functions are called.
TEST_F(MessageFaults, Checked) {
  const Communicator checked(MPI_COMM_WORLD, {.check = CheckLevel::cross_rank});
  EXPECT_EQ(text_of_failing("MPI_Issend", 1, [&] { isend(checked, out, next).wait(); }),
            to("isend", 0, "MPI_Issend"));
  EXPECT_EQ(text_of_failing("MPI_Irecv", 1, [&] { irecv(checked, in, previous).wait(); }),
            from("irecv", 0, "MPI_Irecv"));
}

/// A real one: the message is longer than the View.
TEST_F(MessageFaults, Truncated) {
  const Ints longer("longer", 10);
  auto sending = isend(comm, longer, next);
  EXPECT_EQ(text_of<MpiError>([&] { recv(comm, in, previous); }),
            fmt::format("recv from rank {} (tag 0) of View 'in', (3) int32: MPI_Recv failed: {}", previous,
                        mpi_text(MPI_ERR_TRUNCATE)));
  sending.wait();
}

} // namespace
} // namespace kontor::comm::test
