// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// More elements in one message than an int can count.
#include <kontor/comm/comm.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <limits>
#include <string>

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
  std::string key;
  double kilobytes = 0;
  for (std::string rest; file >> key; std::getline(file, rest))
    if (key == "MemAvailable:" && file >> kilobytes) return 1000 * kilobytes;
  return 0;
}

std::uint8_t pattern(std::size_t i, unsigned seed) {
  return static_cast<std::uint8_t>((i * 2654435761u) >> 13) + static_cast<std::uint8_t>(seed);
}

void fill(const Bytes& view, unsigned seed) {
  for (std::size_t i = 0; i < view.size(); ++i) view(i) = pattern(i, seed);
}

/// How many elements are what was sent, in the first `used` columns.
std::size_t right_ones(const Bytes& view, unsigned seed, std::size_t used = columns) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < view.size(); ++i) count += view(i) == pattern(i, seed) && i % columns < used;
  return count;
}

/// Rank 0 has the data, and rank 1 gets them.
class Large : public testing::Test {
 protected:
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
      if (rank == 0) fill(bytes, 1);
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
  EXPECT_EQ(right_ones(bytes, 1), elements);
}

TEST_F(Large, SendVerified) {
  const Communicator comm(MPI_COMM_WORLD, {.check = CheckLevel::cross_rank, .timeout = 100});
  if (rank == 0) return isend(comm, bytes, 1).wait(), void();
  irecv(comm, bytes, any_source).wait();
  EXPECT_EQ(right_ones(bytes, 1), elements);
}

/// All columns but one, as they lie: by a derived datatype that has more elements than an int can count.
TEST_F(Large, ExchangeOfStridedBytes) {
  const Communicator comm(MPI_COMM_WORLD, {.backend = "view", .packing = Packing::datatype});
  const auto part = Kokkos::subview(Rows(bytes.data(), rows, columns), Kokkos::ALL,
                                    std::pair<std::size_t, std::size_t>(0, columns - 1));
  exchange_once(comm, part);
  if (rank == 1) {
    EXPECT_EQ(right_ones(bytes, 1, columns - 1), rows * (columns - 1));
    EXPECT_EQ(bytes(columns - 1), 0); // what is not part of it is not touched
  }
}

TEST_F(Large, Exchange) {
  const Communicator comm(MPI_COMM_WORLD);
  exchange_once(comm, bytes);
  EXPECT_TRUE(rank == 0 || right_ones(bytes, 1) == elements);
}

} // namespace
} // namespace kontor::comm::test
