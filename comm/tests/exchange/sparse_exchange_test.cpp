// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Messages to ranks that do not know who sends to them: what commit() compares both ends by.
#include "comm_test.hpp"

#include <kontor/comm/communicator/internals.hpp>
#include <kontor/comm/sparse_exchange.hpp>

#include <chrono>
#include <cstring>
#include <thread>

namespace kontor::comm::test {
namespace {

/// Which exchange it belongs to, and who has sent it.
struct Stamp {
  int round;
  int rank;
};

std::vector<std::byte> bytes_of(const Stamp& stamp) {
  std::vector<std::byte> bytes(sizeof(Stamp));
  std::memcpy(bytes.data(), &stamp, sizeof(Stamp));
  return bytes;
}

/// A graph that is another one in each round; rank 0 has nobody to send to in every third of them.
bool sends(int from, int to, int round) {
  if (from == 0 && round % 3 == 0) return false;
  return (from * 7 + to * 3 + round) % 4 < 2;
}

/// As messages that are longer than MPI can count do, here with a count of a few bytes.
TEST(SparseExchange, LongMessagesComeInPieces) {
  const Communicator comm(MPI_COMM_WORLD);
  const auto text = [](int from, int to) { // of 0, 3, 6, ... bytes
    std::vector<std::byte> bytes(static_cast<std::size_t>(3 * (from + to)));
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(10 * from + to + 3 * i);
    return bytes;
  };
  for (const std::size_t most : {1, 4, 6, 100}) {
    std::vector<PeerMessage> messages;
    for (int to = 0; to < comm.size(); ++to) messages.push_back({to, text(comm.rank(), to)});
    const auto received = sparse_exchange(comm, "pieces", std::move(messages), most);
    ASSERT_EQ(received.size(), static_cast<std::size_t>(comm.size()));
    for (int from = 0; from < comm.size(); ++from) {
      EXPECT_EQ(received[from].peer, from);
      EXPECT_EQ(received[from].bytes, text(from, comm.rank())) << most;
    }
  }
}

/// Ranks that are late receive for one exchange while others send for the next.
TEST(SparseExchange, OneAfterTheOther) {
  const Communicator comm(MPI_COMM_WORLD);
  for (int round = 0; round < 40; ++round) {
    if (comm.rank() == round % 5) std::this_thread::sleep_for(std::chrono::microseconds(300));
    std::vector<PeerMessage> messages;
    for (int to = comm.size() - 1; to >= 0; --to)
      if (sends(comm.rank(), to, round)) messages.push_back({to, bytes_of({round, comm.rank()})});
    std::vector<std::string> expected, found;
    for (int from = 0; from < comm.size(); ++from)
      if (sends(from, comm.rank(), round)) expected.push_back(fmt::format("round {} from {}", round, from));
    for (const auto& [peer, bytes] : sparse_exchange(comm, "graph", std::move(messages))) {
      Stamp stamp{};
      ASSERT_EQ(bytes.size(), sizeof(Stamp));
      std::memcpy(&stamp, bytes.data(), sizeof(Stamp));
      EXPECT_EQ(stamp.rank, peer);
      found.push_back(fmt::format("round {} from {}", stamp.round, stamp.rank));
    }
    ASSERT_EQ(found, expected);
  }
}

TEST(SparseExchange, ARankThatDoesNotComeIsAnError) {
  auto options = method("raw");
  options.check = CheckLevel::cross_rank;
  options.timeout = 0.2;
  const Communicator comm(MPI_COMM_WORLD, options);
  const int last = comm.size() - 1;
  if (last == 0) GTEST_SKIP() << "a rank does not miss itself";
  if (comm.rank() != last) {
    std::vector<PeerMessage> messages;
    if (comm.rank() == 0) messages.push_back({last, bytes_of({0, 0})});
    EXPECT_EQ(text_of<Error>([&] { sparse_exchange(comm, "halo", std::move(messages)); }),
              fmt::format("exchange 'halo': rank {} has waited 0.2 s for {} to come to it", comm.rank(),
                          comm.rank() == 0 ? fmt::format("rank {}", last) : "all ranks"));
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (comm.rank() == last) detail::internals(comm).leak_at_end();
}

} // namespace
} // namespace kontor::comm::test
