// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An exception between start() and finish() takes the exchange and the Views with it, which MPI may still be sending.
#include "comm_test.hpp"

namespace kontor::comm::test {
namespace {

struct Gone {};

/// Far above and not far above what MPI copies at once: the memory of the larger one goes back to the system.
constexpr std::size_t sizes[] = {std::size_t{1} << 17, 8192};

/// Other numbers where those of the exchange were, and MPI calls that make progress.
void use_memory_again(std::size_t n) {
  std::vector<Doubles> others;
  for (int i = 0; i < 4; ++i) {
    others.emplace_back("other", n);
    Kokkos::deep_copy(others.back(), -1);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Barrier(MPI_COMM_WORLD);
}

/// Rank r sends n numbers to rank r + 1, and the last one a few to rank 0.
struct Chain {
  Chain(const Communicator& comm, std::size_t n)
      : out("out", n), in("in", n), few("few", 4), few_in("few in", 4), exchange(comm, "left") {
    const auto [previous, next] = ring_of(comm, false);
    const int last = comm.size() - 1;
    const int rank = comm.rank();
    Kokkos::deep_copy(out, rank);
    exchange.add(out, next, in, previous);
    exchange.add(few, rank == last ? 0 : no_rank, few_in, rank == 0 ? last : no_rank);
    exchange.commit();
  }
  Doubles out, in, few, few_in;
  Exchange<Doubles> exchange;
};

/// With these the messages of a rank that has started are on their way.
const std::vector<Options> eager_methods{method("raw"), method("raw", Packing::kernel, Pattern::persistent),
                                         method("raw", Packing::kernel, Pattern::neighborhood), method("shm")};

/// Rank 0 leaves its step before the others begin theirs.
TEST(LeftStep, PeersReceiveWhatWasSent) {
  for (const auto& method : eager_methods)
    for (const auto n : sizes) {
      SCOPED_TRACE(to_string(method) + ", " + std::to_string(n));
      const Communicator comm(MPI_COMM_WORLD, method);
      try {
        Chain chain(comm, n);
        Kokkos::deep_copy(chain.few, 1);
        if (comm.rank() != 0) MPI_Barrier(MPI_COMM_WORLD);
        chain.exchange.start();
        if (comm.rank() == 0) throw Gone();
        chain.exchange.finish();
        EXPECT_EQ(std::count(chain.in.data(), chain.in.data() + n, comm.rank() - 1), static_cast<std::ptrdiff_t>(n));
        MPI_Barrier(MPI_COMM_WORLD);
        if (method.backend == "shm") throw Gone(); // its exchanges end together, or not at all
      } catch (const Gone&) {
        if (comm.rank() == 0) use_memory_again(n);
      }
    }
}

/// At check level `cross_rank` the others find out who has left when they start the next step.
TEST(LeftStep, PeersAreTold) {
  for (auto method : eager_methods) {
    SCOPED_TRACE(to_string(method));
    method.check = CheckLevel::cross_rank;
    method.timeout = 0.5; // for making the exchange, too
    const Communicator comm(MPI_COMM_WORLD, method);
    if (comm.size() == 1) GTEST_SKIP() << "a rank does not miss itself";
    try {
      Chain chain(comm, sizes[0]);
      chain.exchange.start();
      if (comm.rank() == 0) throw Gone();
      chain.exchange.finish();
      expect_error<Error>([&] { chain.exchange.start(); }, {"missing: 0"});
    } catch (const Gone&) {
    }
    use_memory_again(sizes[0]);
  }
}

TEST(LeftStep, OneThatIsDroppedIsTold) {
  with_levels(all_levels, [](const Communicator& comm) {
    testing::internal::CaptureStderr();
    ring_exchange(comm, "dropped", Ints("out", 3), Ints("in", 3)).start();
    const auto line = fmt::format("rank {}: exchange 'dropped' was dropped unfinished: it ends with all ranks; call "
                                  "finish() before\n",
                                  comm.rank());
    EXPECT_EQ(testing::internal::GetCapturedStderr(), comm.options().check == CheckLevel::off ? "" : line);
    expect_usable(comm);
  });
}

/// In a step and after it.
TEST(LeftStep, AllRanksMayLeave) {
  with_options(methods(Contiguity::yes), [](const Communicator& comm) {
    for (const bool ends : {false, true}) try {
        Chain chain(comm, sizes[1]);
        chain.exchange.start();
        if (ends) chain.exchange.finish();
        throw Gone();
      } catch (const Gone&) {
        use_memory_again(sizes[1]);
      }
    expect_usable(comm);
  });
}

} // namespace
} // namespace kontor::comm::test
