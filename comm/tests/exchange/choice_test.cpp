// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is left to `auto`, and how it is chosen.
#include "comm_test.hpp"
#include "views.hpp"

#include <kontor/comm/exchange/trial.hpp>

namespace kontor::comm::test {
namespace {

/// An exchange around the ring: of rows, which are contiguous, or of columns.
struct Ring {
  Ring(const Options& options, bool columns)
      : comm(MPI_COMM_WORLD, options), exchange(ring_exchange(comm, "ring", line(columns, 1), line(columns, 0))) {}
  static Plane filled(int rank) {
    const Plane plane("plane", 6, 6);
    Kokkos::deep_copy(plane, rank);
    return plane;
  }
  HostView<double*, Stride> line(bool columns, int i) const {
    if (columns) return Kokkos::subview(plane, Kokkos::ALL, i);
    return Kokkos::subview(plane, i, Kokkos::ALL);
  }
  Communicator comm;
  Plane plane = filled(comm.rank());
  Exchange<Ints> exchange;
};

void expect_candidates(const Options& options, const std::vector<std::string>& expected, bool columns = true) {
  const Ring ring(options, columns);
  std::vector<std::string> found;
  for (const auto& candidate : ring.exchange.timed_methods()) found.push_back(to_string(candidate.options));
  EXPECT_EQ(found, expected);
}

/// `null` would always win.
TEST(Choice, Candidates) {
  expect_candidates(method("view"), {"view, nonblocking, packing kernel"});
  EXPECT_EQ(Ring(method("view"), true).exchange.timed_methods()[0].seconds, 0);
  const auto view = method("view", Packing::automatic);
  expect_candidates(view, {"view, nonblocking, packing kernel", "view, nonblocking, packing datatype"});
  expect_candidates(view, {"view, nonblocking, packing kernel"}, false);
  expect_candidates(method("raw", Packing::automatic), {"raw, nonblocking, packing kernel"});
  expect_candidates(method("raw", Packing::kernel, Pattern::automatic),
                    {"raw, nonblocking, packing kernel", "raw, persistent, packing kernel",
                     "raw, neighborhood, packing kernel", "raw, alltoall, packing kernel",
                     "raw, blocking, packing kernel", "raw, rma, packing kernel", "raw, two_hop, packing kernel"});
  auto timed = method("raw", Packing::kernel, Pattern::blocking); // blocking calls have no timeout
  timed.check = CheckLevel::cross_rank;
  expect_candidates(timed, {"raw, nonblocking, packing kernel"});
  expect_candidates(method(automatic_backend, Packing::kernel),
                    {"view, nonblocking, packing kernel", "shm, nonblocking, packing kernel"});
}

TEST(Choice, TheFastestOnAllRanksAndNoTraces) {
  const Ring ring(method(automatic_backend, Packing::automatic, Pattern::automatic), true);
  const auto& candidates = ring.exchange.timed_methods();
  std::vector<double> seconds;
  for (const auto& candidate : candidates) seconds.push_back(candidate.seconds);
  EXPECT_GT(seconds[choose(seconds)], 0);
  EXPECT_EQ(to_string(ring.exchange.chosen()), to_string(candidates[choose(seconds)].options));
  for (const auto& candidate : candidates)
    EXPECT_EQ(allreduce(ring.comm, candidate.seconds, ReduceOp::max), candidate.seconds);
  for (const bool columns : {false, true}) {
    const Ring ring(method(automatic_backend, Packing::automatic, Pattern::automatic), columns);
    for (std::size_t i = 0; i < ring.plane.size(); ++i) EXPECT_EQ(ring.plane.data()[i], ring.comm.rank());
  }
}

/// Errors say which choice has to change, so that a program can tell without reading texts.
TEST(Choice, WhatCannotBeDone) {
  const auto expect = [](Options options, Axis axis, std::initializer_list<std::string> facts = {},
                         Path path = Path::automatic) {
    SCOPED_TRACE(to_string(options));
    options.path = path;
    try {
      const Ring ring(options, true);
      ADD_FAILURE();
    } catch (const UsageError& error) {
      EXPECT_EQ(error.axis(), axis);
      expect_facts(error.what(), facts);
    }
  };
  const auto impossible = [](const char* packing) { return fmt::format("packing '{}' is not possible", packing); };
  expect(method("row"), Axis::backend);
  expect(method("shm"), Axis::backend, {}, Path::direct);
  expect(method("view", Packing::datatype, Pattern::rma), Axis::packing,
         {"pattern 'rma' puts messages into windows in one piece", impossible("datatype"),
          "choose packing 'kernel' or 'auto', or another pattern"});
  expect(method("shm", Packing::kernel, Pattern::persistent), Axis::pattern,
         {"backend 'shm' has no pattern 'persistent'", "choose pattern 'nonblocking'", "or backend raw or view"});
  expect(method("shm", Packing::none), Axis::packing,
         {"backend 'shm' copies every message into shared memory by the pack kernel", impossible("none")});
  expect(method("null", Packing::datatype), Axis::packing,
         {"backend 'null' moves nothing", impossible("datatype"), "choose packing 'kernel'"});
  expect(method("raw", Packing::datatype), Axis::packing,
         {"backend 'raw' takes contiguous buffers only", impossible("datatype"), "or backend view"});
  expect(method("view", Packing::datatype), Axis::path, {}, Path::staged);
  expect(method("raw", Packing::none), Axis::packing); // of a column
  EXPECT_FALSE(refusal({.backend = automatic_backend, .pattern = Pattern::automatic}));
}

/// Views that receive keep what they held, or are unpacked from memory that holds zeros.
TEST(Choice, NullMovesNothing) {
  for (const bool columns : {false, true}) {
    Ring ring(method("null"), columns);
    EXPECT_FALSE(ring.comm.capabilities().moves_data);
    Kokkos::deep_copy(ring.plane, 1 + ring.comm.rank());
    run_step(ring.exchange);
    EXPECT_EQ(ring.plane(0, 0), columns ? 0 : 1 + ring.comm.rank());
    EXPECT_EQ(ring.plane(1, 1), 1 + ring.comm.rank());
  }
}

/// Short exchanges are repeated within a turn, long ones are not, and neither goes far beyond the limit.
TEST(Choice, LengthAndNoiseOfATrial) {
  constexpr double infinite = std::numeric_limits<double>::infinity();
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  struct Length {
    double seconds, limit;
    int rounds, exchanges;
  };
  for (const auto& [seconds, limit, rounds, exchanges] :
       {Length{1e-6, 0.2, 101, 32}, Length{10e-6, 0.2, 101, 20}, Length{20e-3, 0.2, 10, 1}, Length{1.0, 0.2, 3, 1},
        Length{1e-6, 0, 3, 1}, Length{1e-6, 1e300, 101, 32},
        Length{1e-6, infinite, 101, 32}, // beyond what an int holds
        Length{infinite, infinite, 3, 1}, Length{1e-6, none, 3, 32}}) {
    const auto [turns, repeats] = trial_length(seconds, limit);
    EXPECT_EQ(std::pair(turns, repeats), std::pair(rounds, exchanges)) << seconds << " " << limit;
  }
  const auto chosen = [](const std::vector<double>& seconds) { return choose(seconds); };
  EXPECT_EQ(chosen({1.00, 1.01, 0.98}), 0u);
  EXPECT_EQ(chosen({1.00, 1.20, 0.96}), 2u);
  EXPECT_EQ(chosen({3.0, 2.02, 2.0}), 1u);
  EXPECT_EQ(medians(std::vector<double>{5, 1, 9, 2, 7, 3}, 2), (std::vector<double>{7, 2}));
}

} // namespace
} // namespace kontor::comm::test
