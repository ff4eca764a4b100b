// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shared memory that is too small for a window: an error in words, and `auto` takes another method.
#include "backend/room.hpp"
#include "comm_test.hpp"

#include <sys/statvfs.h>

namespace kontor::comm::test {
namespace {

using Bytes = HostView<char*>;
constexpr std::size_t mib = 1 << 20;

class Room : public testing::Test {
 protected:
  void SetUp() override {
    struct statvfs system {};
    ASSERT_EQ(statvfs(mpi::window_directory().c_str(), &system), 0) << mpi::window_directory();
    if (system.f_blocks * system.f_frsize > 64 * mib) GTEST_SKIP() << "there is room for all windows of a test";
  }

  /// Of so many bytes from rank to rank.
  static Exchange<Ints> make(const Communicator& comm, std::size_t size) {
    const Bytes out("out", size), in("in", size);
    Kokkos::deep_copy(out, static_cast<char>(comm.rank()));
    return ring_exchange(comm, "big", out, in);
  }

  static void expect_arrival(const Communicator& comm, Exchange<Ints>& exchange) {
    run_step(exchange);
    const auto& in = exchange.slots()[0].receive;
    const auto* data = static_cast<const char*>(in.data);
    EXPECT_EQ(data[0], ring_of(comm).first);
    EXPECT_EQ(data[in.shape.extents[0] - 1], ring_of(comm).first);
  }

  static void expect_refusal(const Options& options, const char* by) {
    const Communicator comm(MPI_COMM_WORLD, options);
    expect_error<UsageError>([&] { make(comm, 40 * mib); },
                             {std::string("exchange 'big': ") + by, " MiB of shared memory are needed on host ",
                              " MiB are free in " + mpi::window_directory()});
    // Others may use the room that there is, until that is full as well.
    std::vector<Exchange<Ints>> exchanges;
    std::string full = "no error";
    for (int i = 0; i < 40 && full == "no error"; ++i)
      full = text_of<UsageError>([&] { exchanges.push_back(make(comm, mib)); });
    expect_facts(full, {" MiB of shared memory are needed"});
    EXPECT_GT(exchanges.size(), 1u);
    for (auto& exchange : exchanges) expect_arrival(comm, exchange);
  }
};

TEST_F(Room, Shm) { expect_refusal(method("shm"), "backend 'shm' has no room: "); }

TEST_F(Room, Rma) { expect_refusal(method("raw", Packing::kernel, Pattern::rma), "pattern 'rma' has no room: "); }

TEST_F(Room, AutoGoesAnotherWay) {
  auto options = method(automatic_backend, Packing::automatic, Pattern::automatic);
  const Communicator comm(MPI_COMM_WORLD, options);
  auto exchange = make(comm, 40 * mib);
  EXPECT_NE(exchange.chosen().backend, "shm");
  EXPECT_NE(exchange.chosen().pattern, Pattern::rma);
  expect_arrival(comm, exchange);
}

} // namespace
} // namespace kontor::comm::test
