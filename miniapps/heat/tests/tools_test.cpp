// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a profiler sees, and which stores a sweep on a host uses.
#include "cost.hpp"
#include "run.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace kontor::heat::test {
namespace {

using comm::test::start_recording_tools;
using comm::test::stop_recording_tools;

/// Kokkos labels its own kernels "Kokkos::View::initialization [label]"; the label is ours.
bool starts_with_module(std::string label) {
  if (label.rfind("Kokkos::View::", 0) == 0) label = label.substr(label.find('[') + 1);
  for (const char* module :
       {"heat/", "grid/", "machine/", "stepping/", "comm/", "Kokkos::"}) // the last: scratch memory
    if (label.rfind(module, 0) == 0) return true;
  return false;
}

std::size_t count(const std::vector<std::string>& names, const std::string& name) {
  return static_cast<std::size_t>(std::count(names.begin(), names.end(), name));
}

constexpr const char* deck = R"deck(
app: heat
problem:
  cells: [40, 30]
  initial: "x"
  source: "y"
  boundary: {x_min: periodic, x_max: periodic, y_min: {dirichlet: 1}}
solver: {tolerance: 0, max_sweeps: 10, check_every: 5}
)deck";

class Tools : public testing::TestWithParam<bool> {};

TEST_P(Tools, EveryLabelBeginsWithItsModuleAndRegionsBalance) {
  start_recording_tools();
  {
    const Problem<double> problem(deck, {}, GetParam());
    problem.run();
    problem.heat->verify();
  }
  const auto seen = stop_recording_tools();
  const std::pair<const char*, const std::vector<std::string>*> lists[] = {
      {"kernel", &seen.kernels}, {"View", &seen.allocations}, {"region", &seen.regions}};
  for (const auto& [kind, names] : lists)
    for (std::size_t i = 0; i < names->size(); ++i)
      EXPECT_TRUE(starts_with_module((*names)[i]))
          << kind << " '" << (*names)[i] << "', after " << (i > 0 ? "'" + (*names)[i - 1] + "'" : "nothing");
  EXPECT_GT(seen.kernels.size(), 0u);
  EXPECT_GT(seen.allocations.size(), 0u);
  EXPECT_EQ(seen.open_regions, 0);
  EXPECT_FALSE(seen.unbalanced);
}

TEST_P(Tools, AStepMakesOneFenceAndAllocatesNothing) {
  if (on_device) GTEST_SKIP() << "what a device's backend fences is its own affair";
  const Problem<double> problem(deck, {}, GetParam());
  problem.heat->reset();
  start_recording_tools();
  problem.heat->run();
  const auto seen = stop_recording_tools();
  EXPECT_EQ(seen.allocations.size(), 0u);
  EXPECT_EQ(count(seen.fences, "comm/packed"),
            world_size() > 1 ? 10u : 0u); // alone there is nothing to send
  EXPECT_EQ(count(seen.regions, "heat/step"), 10u);
  for (const char* phase : {"comm/post", "comm/wait"}) EXPECT_EQ(count(seen.regions, phase), 10u) << phase;
  for (const char* phase : {"comm/pack", "comm/unpack"}) // only around kernels
    EXPECT_EQ(count(seen.regions, phase), count(seen.kernels, phase)) << phase;
  EXPECT_EQ(count(seen.regions, "heat/norm"), 2u);
  for (const auto& kernel : seen.kernels)
    EXPECT_TRUE(kernel == "heat/sweep" || kernel == "grid/copy" || kernel == "grid/wrap" || kernel == "comm/pack" ||
                kernel == "comm/unpack")
        << kernel;
  // The other fences, if any, are those of parallel_reduce, in the sweeps that compute a norm.
  for (const auto& fence : seen.fences)
    EXPECT_TRUE(fence == "comm/packed" || fence.find("parallel_reduce") != std::string::npos) << fence;
}

INSTANTIATE_TEST_SUITE_P(Heat, Tools, testing::Bool(),
                         [](const auto& instance) { return instance.param ? "overlap" : "no_overlap"; });

/// Of a run with so many cells for each rank.
nlohmann::ordered_json record_with(int cells, const char* stores, const char* source = "0") {
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
  EXPECT_FALSE(record_with(few, "auto").contains("pass_trial"));
  const auto extras = record_with(many, "auto");
  ASSERT_EQ(extras["pass_trial"].size(), 4);
  double least = INFINITY;
  for (const auto& tried : extras["pass_trial"]) least = std::min(least, tried["seconds"].get<double>());
  EXPECT_GT(least, 0);
  const auto name =
      fmt::format("{} stores, prefetch {} B", extras["stores"].get<std::string>(), extras["prefetch"].dump());
  const auto chosen =
      std::ranges::find_if(extras["pass_trial"], [&](const auto& tried) { return tried["candidate"] == name; });
  ASSERT_NE(chosen, extras["pass_trial"].end());
  EXPECT_LE((*chosen)["seconds"].template get<double>(), 1.04 * least);
}

TEST(Stores, AreThoseOfTheDeck) {
  if (on_device) GTEST_SKIP() << "rows are for CPUs";
  for (const char* stores : {"streaming", "ordinary"}) {
    const auto extras = record_with(many, stores);
    EXPECT_EQ(extras["stores"], stores);
    for (const auto& tried : extras["pass_trial"]) // prefetching is tried
      EXPECT_TRUE(tried["candidate"].get<std::string>().starts_with(stores)) << tried;
  }
}

/// The source is known up to the deck's last time, and a trial would go on for longer.
TEST(Stores, AreNotTriedPastTheEndOfTime) {
  const auto extras = record_with(many, "auto", "sqrt(1.05e-6-t)");
  EXPECT_FALSE(extras.contains("pass_trial"));
}

} // namespace
} // namespace kontor::heat::test
