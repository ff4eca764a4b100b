// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "methods.hpp"

#include <kontor/comm/comm.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <typeinfo>

/// What most tests use: the whole layer, texts of errors, and short names for Views and communicators.
namespace kontor::comm::test {

using Left = Kokkos::LayoutLeft;
using Right = Kokkos::LayoutRight;
using Stride = Kokkos::LayoutStride;

template <class Data, class... Layout>
using HostView = Kokkos::View<Data, Layout..., Kokkos::HostSpace>;
using Ints = HostView<int*>;
using Doubles = HostView<double*>;
using Plane = HostView<double**, Right>;

inline constexpr auto all_levels = {CheckLevel::off, CheckLevel::local, CheckLevel::cross_rank};
inline constexpr auto levels_with_checks = {CheckLevel::local, CheckLevel::cross_rank};

/// What a test calls, for one full expression: without its type, so that what is done with it is compiled once.
class Action {
 public:
  template <class F>
  Action(const F& action) : action_(&action), run_([](const void* f) { (*static_cast<const F*>(f))(); }) {}
  void operator()() const { run_(action_); }

 private:
  const void* action_;
  void (*run_)(const void*);
};

std::string text_of(const std::type_info& error, bool has_id, const Action&);

/// The text of the error that the action throws; a failure if that is not of class E itself, or an Error without an
/// id. Without the id, and the stack of calls that MPICH adds to its texts.
template <class E>
std::string text_of(const Action& action) {
  return text_of(typeid(E), std::is_base_of_v<Error, E>, action);
}

void expect_facts(const std::string& text, std::initializer_list<std::string> facts);

/// MPI's text for an error code.
std::string mpi_text(int code);

/// The action throws an error of class E whose text has these facts.
template <class E>
void expect_error(const Action& action, std::initializer_list<std::string> facts) {
  expect_facts(text_of<E>(action), facts);
}

/// Collective over MPI_COMM_WORLD. Calls test(communicator) for each of these check levels.
template <class Test>
void with_levels(std::initializer_list<CheckLevel> levels, const Test& test) {
  for (const auto level : levels) {
    SCOPED_TRACE(std::string("check level ") + to_string(level));
    test(Communicator(MPI_COMM_WORLD, {.check = level}));
  }
}

/// Collective over MPI_COMM_WORLD. Calls test(communicator) for each of these options.
template <class Test>
void with_options(const std::vector<Options>& all, const Test& test) {
  for (const auto& options : all) {
    SCOPED_TRACE(to_string(options));
    test(Communicator(MPI_COMM_WORLD, options));
  }
}

class OnRing : public testing::Test {
 protected:
  explicit OnRing(const Options& options = {}) : comm(MPI_COMM_WORLD, options) {}
  Communicator comm;
  int rank = comm.rank();
  int ranks = comm.size();
  int last = ranks - 1;
  bool is_last = rank == last;
  int previous = ring_of(comm).first;
  int next = ring_of(comm).second;
};

/// A test that is run at several check levels.
class AtLevel : public OnRing, public testing::WithParamInterface<CheckLevel> {
 protected:
  AtLevel() : OnRing({.check = GetParam()}) {}

  /// The call is an error of this rank, or of all of them; at level `off` it is not made.
  void expect_refused(const Action& call, std::initializer_list<std::string> facts) const {
    if (GetParam() == CheckLevel::local) expect_error<CallError>(call, facts);
    if (GetParam() == CheckLevel::cross_rank) expect_error<UsageError>(call, facts);
  }
};

/// Collective. A committed exchange that sends `out` to the next rank and receives `in` from the previous one.
template <class Out, class In>
auto ring_exchange(const Communicator& comm, const char* name, const Out& out, const In& in, bool periodic = true) {
  const auto [previous, next] = ring_of(comm, periodic);
  Exchange<Kokkos::View<int*, typename Out::memory_space>> exchange(comm, name);
  exchange.add(out, next, in, previous);
  exchange.commit();
  return exchange;
}

inline void expect_status(const MessageStatus& status, int source, int tag, std::size_t bytes) {
  EXPECT_EQ(status.source, source);
  EXPECT_EQ(status.tag, tag);
  EXPECT_EQ(status.bytes(), static_cast<std::int64_t>(bytes));
}

template <class Repeated>
void run_step(Repeated& repeated) {
  repeated.start();
  repeated.finish();
}

} // namespace kontor::comm::test
