// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Options that differ between ranks are an error when the communicator is made, whichever they are.
#include "comm_test.hpp"

#include <array>
#include <cmath>
#include <cstddef>

namespace kontor::comm::test {
namespace {

/// Decks, messages and the record take the names from one list.
template <class E, std::size_t n>
void expect_names(const std::array<NamedValue<E>, n>& names, std::size_t values) {
  EXPECT_EQ(n, values);
  for (std::size_t i = 0; i < n; ++i) {
    EXPECT_EQ(static_cast<std::size_t>(names[i].value), i) << names[i].name;
    EXPECT_STREQ(to_string(names[i].value), names[i].name);
  }
  EXPECT_STREQ(to_string(static_cast<E>(n)), "?");
}

TEST(Options, EveryValueHasItsName) {
  expect_names(pattern_names, static_cast<std::size_t>(Pattern::automatic) + 1);
  expect_names(packing_names, static_cast<std::size_t>(Packing::none) + 1);
  expect_names(path_names, static_cast<std::size_t>(Path::automatic) + 1);
  expect_names(check_names, static_cast<std::size_t>(CheckLevel::cross_rank) + 1);
}

TEST(Options, AreEqualOnAllRanks) {
  const int rank = world_rank(), size = world_size();
  if (size == 1) GTEST_SKIP() << "one rank has one choice";
  const int last = size - 1;
  const auto expect = [&](const auto& change, const std::string& differ) {
    Options options;
    if (rank == last) change(options);
    EXPECT_EQ(text_of<UsageError>([&] { Communicator(MPI_COMM_WORLD, options); }),
              "the options of a communicator must be equal on all its ranks: " + differ);
  };
  const auto is = [&](const char* option, const char* first, const char* second) {
    return fmt::format("{} is '{}' on rank 0 and '{}' on rank {}", option, first, second, last);
  };
  expect([](Options& o) { o.backend = "view"; }, is("backend", "raw", "view"));
  expect([](Options& o) { o.backend = automatic_backend; }, is("backend", "raw", "auto"));
  expect([](Options& o) { o.pattern = Pattern::neighborhood; }, is("pattern", "nonblocking", "neighborhood"));
  expect([](Options& o) { o.packing = Packing::none; }, is("packing", "auto", "none"));
  expect([](Options& o) { o.path = Path::staged; }, is("path", "auto", "staged"));
  expect([](Options& o) { o.check = CheckLevel::cross_rank; }, is("check", "local", "cross_rank"));
  expect([](Options& o) { o.trial = 1; }, is("trial", "0.2", "1"));
  expect([](Options& o) { o.ranks_per_node = 2; }, is("ranks_per_node", "0", "2"));
  expect(
      [](Options& o) {
        o.backend = "view";
        o.pattern = Pattern::rma;
      },
      is("backend", "raw", "view") + ", " + is("pattern", "nonblocking", "rma"));
}

TEST(Options, HaveValuesThatThereAre) {
  const auto expect = [](const auto& change, const std::string& problem) {
    Options options;
    change(options);
    expect_facts(text_of<UsageError>([&] { Communicator(MPI_COMM_WORLD, options); }), {problem});
  };
  expect([](Options& o) { o.messages = static_cast<Messages>(77); }, "messages has no such value");
  expect([](Options& o) { o.timeout = -1; }, "timeout is -1");
  expect([](Options& o) { o.trial = std::nan(""); }, "trial is nan");
  expect([](Options& o) { o.ranks_per_node = -1; }, "ranks_per_node is -1");
}

TEST(Options, TheCommunicatorIsOne) {
  expect_facts(text_of<CallError>([] { Communicator comm(MPI_COMM_NULL); }), {"MPI_COMM_NULL"});
}

} // namespace
} // namespace kontor::comm::test
