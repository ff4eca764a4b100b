// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which stores a sweep on a host uses.
#include "run.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

namespace kontor::heat::test {
namespace {

/// Of a run with so many cells for each rank.
miniapp::AppRecord record_with(int cells, const char* stores, const char* source = "0") {
  const int ranks = world_size();
  const auto deck = fmt::format(R"deck(
app: heat
problem:
  equation: transient
  cells: [1024, {}]
  initial: "x*y"
  source: "{}"
decomposition: {{process_grid: [1, {}]}}
time: {{end: 1e-6, step: 1e-7}}
solver: {{stores: {}}}
)deck",
                                cells / 1024 * ranks, source, ranks, stores);
  const Problem<double> problem(deck, {.trial = 1e-3});
  problem.run();
  return problem.heat->record();
}

constexpr int few = 128 << 10;  // cells of a rank; 2 MiB of fields, found in cache again
constexpr int many = 512 << 10; // 8 MiB

TEST(Stores, AreTriedWhereFieldsAreLarge) {
  if (on_device) GTEST_SKIP() << "rows are for CPUs";
  EXPECT_FALSE(record_with(few, "auto").extras.contains("stores_trial"));
  const auto extras = record_with(many, "auto").extras;
  ASSERT_TRUE(extras.contains("stores_trial"));
  const double ordinary = extras["stores_trial"]["ordinary"];
  const double streaming = extras["stores_trial"]["streaming"];
  EXPECT_GT(ordinary, 0);
  EXPECT_GT(streaming, 0);
  EXPECT_EQ(extras["stores"], 1.03 * streaming < ordinary ? "streaming" : "ordinary");
}

TEST(Stores, AreThoseOfTheDeck) {
  if (on_device) GTEST_SKIP() << "rows are for CPUs";
  for (const char* stores : {"streaming", "ordinary"}) {
    const auto extras = record_with(many, stores).extras;
    EXPECT_EQ(extras["stores"], stores);
    EXPECT_FALSE(extras.contains("stores_trial"));
  }
}

/// The source is known up to the deck's last time, and a trial would go on for longer.
TEST(Stores, AreNotTriedPastTheEndOfTime) {
  const auto extras = record_with(many, "auto", "sqrt(1.05e-6-t)").extras;
  EXPECT_FALSE(extras.contains("stores_trial"));
}

} // namespace
} // namespace kontor::heat::test
