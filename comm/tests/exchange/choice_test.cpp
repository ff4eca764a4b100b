// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is left to `auto`, and how it is chosen.
#include "error_text.hpp"
#include "methods.hpp"
#include "views.hpp"

#include <kontor/comm/comm.hpp>
#include <kontor/comm/exchange/trial.hpp>

#include <gtest/gtest.h>

#include <limits>

namespace kontor::comm::test {
namespace {

using Doubles = Kokkos::View<double*, Kokkos::HostSpace>;
using Plane = Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::HostSpace>;

/// An exchange around the ring: of rows, which are contiguous, or of columns.
struct Ring {
  Ring(const Options& options, bool columns) : comm(MPI_COMM_WORLD, options), exchange(comm, "ring") {
    const auto [previous, next] = ring_of(comm);
    Kokkos::deep_copy(plane, comm.rank());
    if (columns)
      exchange.add(Kokkos::subview(plane, Kokkos::ALL(), 1), next, Kokkos::subview(plane, Kokkos::ALL(), 0),
                   previous);
    else
      exchange.add(Kokkos::subview(plane, 1, Kokkos::ALL()), next, Kokkos::subview(plane, 0, Kokkos::ALL()),
                   previous);
    exchange.commit();
  }
  Communicator comm;
  Plane plane{"plane", 6, 6};
  Exchange<Doubles> exchange;
};

std::vector<std::string> names(const std::vector<TimedMethod>& candidates) {
  std::vector<std::string> result;
  for (const auto& candidate : candidates) result.push_back(to_string(candidate.options));
  return result;
}

using List = std::vector<std::string>;

TEST(Choice, NothingLeftOpen) {
  const Ring ring(method("view"), true);
  EXPECT_EQ(names(ring.exchange.timed_methods()), List{"view, nonblocking, packing kernel"});
  EXPECT_EQ(ring.exchange.timed_methods()[0].seconds, 0);
}

TEST(Choice, Packing) {
  const Ring columns(method("view", Packing::automatic), true);
  EXPECT_EQ(names(columns.exchange.timed_methods()),
            (List{"view, nonblocking, packing kernel", "view, nonblocking, packing datatype"}));
  const Ring rows(method("view", Packing::automatic), false);
  EXPECT_EQ(names(rows.exchange.timed_methods()), List{"view, nonblocking, packing kernel"});
  const Ring raw(method("raw", Packing::automatic), true);
  EXPECT_EQ(names(raw.exchange.timed_methods()), List{"raw, nonblocking, packing kernel"});
}

TEST(Choice, Pattern) {
  const Ring ring(method("raw", Packing::kernel, Pattern::automatic), true);
  EXPECT_EQ(names(ring.exchange.timed_methods()),
            (List{"raw, nonblocking, packing kernel", "raw, persistent, packing kernel",
                  "raw, neighborhood, packing kernel", "raw, blocking, packing kernel",
                  "raw, rma, packing kernel"}));
}

/// `null` would always win.
TEST(Choice, Backend) {
  const Ring ring(method(automatic_backend, Packing::kernel), true);
  EXPECT_EQ(names(ring.exchange.timed_methods()),
            (List{"view, nonblocking, packing kernel", "shm, nonblocking, packing kernel"}));
}

TEST(Choice, TheFastestOnAllRanks) {
  const Ring ring(method(automatic_backend, Packing::automatic, Pattern::automatic), true);
  const auto& candidates = ring.exchange.timed_methods();
  std::vector<double> seconds;
  for (const auto& candidate : candidates) seconds.push_back(candidate.seconds);
  EXPECT_GT(seconds[choose(seconds)], 0);
  EXPECT_EQ(to_string(ring.exchange.chosen()), to_string(candidates[choose(seconds)].options));
  for (const auto& candidate : candidates)
    EXPECT_EQ(allreduce(ring.comm, candidate.seconds, ReduceOp::max), candidate.seconds);
}

/// The trial exchanges for its own purposes only.
TEST(Choice, ViewsKeepWhatTheyHeld) {
  for (const bool columns : {false, true}) {
    const Ring ring(method(automatic_backend, Packing::automatic, Pattern::automatic), columns);
    for (std::size_t i = 0; i < ring.plane.size(); ++i) EXPECT_EQ(ring.plane.data()[i], ring.comm.rank());
  }
}

TEST(Choice, WhatCannotBeDone) {
  const auto expect = [](const Options& options, std::initializer_list<const char*> facts) {
    const auto text = text_of<UsageError>([&] { Communicator(MPI_COMM_WORLD, options); });
    for (const auto* fact : facts) EXPECT_NE(text.find(fact), std::string::npos) << fact << ": " << text;
  };
  expect(method("view", Packing::datatype, Pattern::rma),
         {"pattern 'rma' puts messages into windows in one piece", "packing 'datatype' is not possible",
          "choose packing 'kernel' or 'auto', or another pattern"});
  expect(method("shm", Packing::kernel, Pattern::persistent),
         {"backend 'shm' has no pattern 'persistent'", "choose pattern 'nonblocking'",
          "or backend raw or view"});
  expect(method("shm", Packing::none),
         {"backend 'shm' copies every message into shared memory by the pack kernel",
          "packing 'none' is not possible", "choose packing 'kernel' or 'auto'"});
  expect(method("null", Packing::datatype),
         {"backend 'null' moves nothing", "packing 'datatype' is not possible", "choose packing 'kernel'"});
}

/// So that a program can say which of its settings is wrong without reading texts.
TEST(Choice, ErrorsSayWhichChoiceHasToChange) {
  const auto axis = [](const Options& options) {
    try {
      const Communicator comm(MPI_COMM_WORLD, options);
      return Axis::none;
    } catch (const UsageError& error) {
      return error.axis();
    }
  };
  auto direct = method("shm");
  direct.path = Path::direct;
  EXPECT_EQ(axis(method("row")), Axis::backend);
  EXPECT_EQ(axis(direct), Axis::backend);
  EXPECT_EQ(axis(method("shm", Packing::kernel, Pattern::persistent)), Axis::pattern);
  for (const auto* backend : {"raw", "null", "shm"})
    EXPECT_EQ(axis(method(backend, Packing::datatype)), Axis::packing) << backend;
  EXPECT_EQ(axis(method("view", Packing::datatype, Pattern::rma)), Axis::packing);
  auto staged = method("view", Packing::datatype);
  staged.path = Path::staged;
  EXPECT_EQ(axis(staged), Axis::path);

  const Communicator comm(MPI_COMM_WORLD, method("raw", Packing::none));
  Exchange<Doubles> exchange(comm, "strided");
  const Plane plane("plane", 4, 4);
  const auto [previous, next] = ring_of(comm);
  exchange.add(Kokkos::subview(plane, Kokkos::ALL(), 1), next, Kokkos::subview(plane, Kokkos::ALL(), 0),
               previous);
  try {
    exchange.commit();
    FAIL() << "packing 'none' took a column";
  } catch (const UsageError& error) {
    EXPECT_EQ(error.axis(), Axis::packing);
  }
}

/// Views that receive keep what they held, or are unpacked from memory that holds zeros.
TEST(Choice, NullMovesNothing) {
  for (const bool columns : {false, true}) {
    Ring ring(method("null"), columns);
    EXPECT_FALSE(ring.comm.capabilities().moves_data);
    Kokkos::deep_copy(ring.plane, 1 + ring.comm.rank());
    ring.exchange.start();
    ring.exchange.finish();
    EXPECT_EQ(ring.plane(0, 0), columns ? 0 : 1 + ring.comm.rank());
    EXPECT_EQ(ring.plane(1, 1), 1 + ring.comm.rank());
  }
}

/// Short exchanges are repeated within a turn, long ones are not, and neither goes far beyond the limit.
TEST(Choice, LengthOfATrial) {
  const auto length = [](double seconds, double limit) {
    const auto [rounds, exchanges] = trial_length(seconds, limit);
    return std::pair(rounds, exchanges);
  };
  EXPECT_EQ(length(1e-6, 0.2), std::pair(101, 32));
  EXPECT_EQ(length(10e-6, 0.2), std::pair(101, 20));
  EXPECT_EQ(length(20e-3, 0.2), std::pair(10, 1));
  EXPECT_EQ(length(1.0, 0.2), std::pair(3, 1));
  EXPECT_EQ(length(1e-6, 0), std::pair(3, 1));
  // beyond what an int holds, and no numbers
  constexpr double infinite = std::numeric_limits<double>::infinity();
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(length(1e-6, 1e300), std::pair(101, 32));
  EXPECT_EQ(length(1e-6, infinite), std::pair(101, 32));
  EXPECT_EQ(length(infinite, 0.2), std::pair(3, 1));
  EXPECT_EQ(length(infinite, infinite), std::pair(3, 1));
  EXPECT_EQ(length(1e-6, none), std::pair(3, 32));
}

TEST(Choice, NoiseDoesNotChoose) {
  const auto chosen = [](const std::vector<double>& seconds) { return choose(seconds); };
  EXPECT_EQ(chosen({1.00, 1.01, 0.98}), 0u);
  EXPECT_EQ(chosen({1.00, 1.20, 0.96}), 2u);
  EXPECT_EQ(chosen({3.0, 2.02, 2.0}), 1u);
  EXPECT_EQ(chosen({0.0}), 0u);
}

TEST(Choice, MediansOverRounds) {
  EXPECT_EQ(medians(std::vector<double>{5, 1, 9, 2, 7, 3}, 2), (std::vector<double>{7, 2}));
}

} // namespace
} // namespace kontor::comm::test
