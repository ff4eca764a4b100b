// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// More elements in one message than an int can count.
#include <kontor/comm/comm.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <random>

namespace kontor::comm::test {
namespace {

using Bytes = Kokkos::View<std::uint8_t*, Kokkos::HostSpace>;
using Rows =
    Kokkos::View<std::uint8_t**, Kokkos::LayoutRight, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

constexpr std::size_t rows = 2200;
constexpr std::size_t columns = 1'000'003;
constexpr std::size_t elements = rows * columns;
static_assert(elements > std::numeric_limits<std::int32_t>::max());

/// In bytes; 0 where the system does not say.
double available_memory() {
  std::ifstream file("/proc/meminfo");
  double kilobytes = 0;
  for (std::string key; file >> key && key != "MemAvailable:";) std::getline(file, key);
  return file >> kilobytes ? 1000 * kilobytes : 0;
}

/// What is sent: row r are the bytes from number r on of a line of random ones, so that no two rows are equal.
class Sent {
 public:
  Sent() {
    std::mt19937 random;
    for (auto& byte : line_) byte = static_cast<std::uint8_t>(random());
  }
  void fill(const Bytes& view) const {
    for (std::size_t r = 0; r < rows; ++r) std::memcpy(&view(r * columns), &line_[r], columns);
  }
  /// How many rows are what was sent, in the first `used` columns.
  std::size_t right_rows(const Bytes& view, std::size_t used = columns) const {
    std::size_t count = 0;
    for (std::size_t r = 0; r < rows; ++r) count += std::memcmp(&view(r * columns), &line_[r], used) == 0 ? 1 : 0;
    return count;
  }

 private:
  std::vector<std::uint8_t> line_ = std::vector<std::uint8_t>(rows + columns);
};

/// Rank 0 has the data, and rank 1 gets them.
class Large : public testing::Test {
 protected:
  const Sent sent;
  static inline Bytes bytes; // of all tests, because the system takes long to give so much
  int rank = 0;

  void SetUp() override {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    double available = available_memory() + static_cast<double>(bytes.size());
    // Both ranks need theirs, and may share a node.
    MPI_Allreduce(MPI_IN_PLACE, &available, 1, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
    constexpr double needed = 2.3 * elements;
    if (available < needed)
      GTEST_SKIP() << fmt::format("takes {:.1f} GB of memory; {:.1f} GB are available", needed * 1e-9,
                                  available * 1e-9);
    if (bytes.size() == 0) {
      bytes = Bytes(Kokkos::view_alloc(std::string("bytes"), Kokkos::WithoutInitializing), elements);
      if (rank == 0) sent.fill(bytes);
    }
    if (rank == 1) Kokkos::deep_copy(bytes, 0);
  }
  static void TearDownTestSuite() { bytes = {}; }

  template <class View>
  void exchange_once(const Communicator& comm, const View& view) const {
    Exchange<Bytes> exchange(comm, "large");
    exchange.add(view, rank == 0 ? 1 : no_rank, view, rank == 1 ? 0 : no_rank);
    exchange.commit();
    exchange.start();
    exchange.finish();
  }
};

TEST_F(Large, Send) {
  const Communicator comm(MPI_COMM_WORLD);
  if (rank == 0) return send(comm, bytes, 1);
  recv(comm, bytes, 0);
  EXPECT_EQ(sent.right_rows(bytes), rows);
}

TEST_F(Large, SendVerified) {
  const Communicator comm(MPI_COMM_WORLD, {.check = CheckLevel::cross_rank, .timeout = 100});
  if (rank == 0) return isend(comm, bytes, 1).wait(), void();
  irecv(comm, bytes, any_source).wait();
  EXPECT_EQ(sent.right_rows(bytes), rows);
}

TEST_F(Large, SparseExchange) {
  const Communicator comm(MPI_COMM_WORLD);
  std::vector<detail::SparseMessage> messages;
  if (rank == 0) messages.push_back({1, bytes.data(), bytes.size()});
  detail::sparse_exchange(comm, "large", messages, nullptr, [](int, std::size_t size) -> void* {
    EXPECT_EQ(size, elements);
    return bytes.data();
  });
  EXPECT_EQ(sent.right_rows(bytes), rows);
}

/// All columns but one, as they lie: by a derived datatype that has more elements than an int can count. Then all.
TEST_F(Large, Exchange) {
  const Communicator comm(MPI_COMM_WORLD, {.backend = "view", .packing = Packing::datatype});
  const auto part = Kokkos::subview(Rows(bytes.data(), rows, columns), Kokkos::ALL,
                                    std::pair<std::size_t, std::size_t>(0, columns - 1));
  exchange_once(comm, part);
  if (rank == 1) {
    EXPECT_EQ(sent.right_rows(bytes, columns - 1), rows);
    EXPECT_EQ(bytes(columns - 1), 0); // what is not part of it is not touched
  }
  exchange_once(Communicator(MPI_COMM_WORLD), bytes);
  EXPECT_TRUE(rank == 0 || sent.right_rows(bytes) == rows);
}

} // namespace
} // namespace kontor::comm::test
