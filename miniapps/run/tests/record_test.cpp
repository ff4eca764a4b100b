// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine/node.hpp"
#include "run/record/exchange_record.hpp"
#include "run/record/kernel_runs.hpp"
#include "run/record/record.hpp"
#include "run/record/timers.hpp"
#include "run/tests/first_ranks.hpp"
#include "run/tests/refusal.hpp"

#include <Kokkos_Core.hpp>

#include <cstdio>
#include <iterator>
#include <set>
#include <sstream>
#include <stdexcept>
#include <tuple>

namespace {

using namespace kontor::miniapp;
using namespace kontor;
using test::world;

using Keys = std::set<std::string>;

Keys keys(const nlohmann::ordered_json& json) {
  Keys result;
  for (const auto& [key, value] : json.items()) result.insert(key);
  return result;
}

Keys words(const std::string& text) {
  std::istringstream in(text);
  return {std::istream_iterator<std::string>(in), {}};
}

const auto of_every_record =
    words(std::string(device::kernels_on_host ? "" : "devices ") +
          "app version git_revision started command deck hosts ranks threads execution_space backend kokkos_version "
          "mpi_library compiler hdf5_version pattern packing check flags backend_remark path overlap placement "
          "field_memory peak_memory verification calibration repeats");

/// Collective. What a record has besides what the run itself adds.
nlohmann::ordered_json record_with(const nlohmann::ordered_json& app, const Verification& verification = {},
                                   const std::vector<FigureOfMerit>& figures = {},
                                   const std::string& command = "command") {
  auto record = provenance(world(), RunOptions{}, "test", command, "deck");
  add_verdict(record, verification, figures);
  add_repeats(record, {}, {});
  record["calibration"] = Calibration().record;
  add_app(record, world(), app);
  return record;
}

TEST(Record, OfAnAppThatAddsNothing) {
  const auto record = record_with(nlohmann::ordered_json::object());
  if (world().rank() != 0) return;
  EXPECT_EQ(keys(record), of_every_record);
  EXPECT_TRUE(record["calibration"].empty());
}

TEST(Record, TellsHowFarExposedCommunicationIsResolved) {
  nlohmann::ordered_json record;
  add_repeats(record, {10}, {3, 4, 5});
  EXPECT_EQ(record["exposed_seconds"], 6);
  EXPECT_EQ(record["exposed_error"], 1 + 1);
  add_repeats(record, {3, 2, 9}, {3, 4, 5});
  EXPECT_EQ(record["compute_alone_seconds"], 4);
  EXPECT_EQ(record["exposed_seconds"], -1);
  EXPECT_EQ(record["exposed_error"], 1 + 3.5);
}

TEST(KernelRuns, AreLimitedByMemoryOrByArithmetic) {
  const Calibration machine{.memory = {.read = 10, .copy = 10}, .multiply_adds = 4};
  const std::vector<KernelRun> kernels{{"moves", {.read = 30, .written = 0}, 8, 6}, {"computes", {.read = 10}, 20, 10}};
  EXPECT_EQ(seconds_at_best(kernels, machine), 3 + 5);
  const auto figures = figures_of_kernels(kernels, machine);
  EXPECT_EQ(figures[0].name, "moves_bandwidth");
  EXPECT_DOUBLE_EQ(figures[0].value, 5);
  EXPECT_DOUBLE_EQ(figures[0].fraction(), 0.5);
  EXPECT_DOUBLE_EQ(figures[1].fraction(), 0.5);
}

TEST(Record, OfAnAppThatAddsAll) {
  const int rank = world().rank(), ranks = world().size();
  nlohmann::ordered_json mine{{"process_grid", {2, 3}},
                              {"precision", "float"},
                              {"backend", "view"},
                              {"field_memory", 100 + rank},
                              {"traffic", nlohmann::ordered_json::array()},
                              {"calibration", {{"peer_bandwidth", 3e9}}},
                              {"cells", {4, 5}}};
  for (int i = 0; i <= rank; ++i) mine["traffic"].push_back({{"rank", rank}, {"neighbour", i}});
  const auto json = record_with(mine, {}, {{"updates", 5, "1/s", 10}, {"latency", 1e-6, "s"}});
  if (rank != 0) {
    EXPECT_FALSE(json.contains("traffic"));
    EXPECT_TRUE(json["hosts"].empty());
    return;
  }
  auto expected = of_every_record;
  expected.merge(words("process_grid precision traffic cells figure_of_merit figures_of_merit"));
  EXPECT_EQ(keys(json), expected);
  test::expect_values(json, R"({"/process_grid": "2 x 3", "/backend": "view", "/traffic/0/neighbour": 0,
      "/figure_of_merit/name": "updates", "/figure_of_merit/fraction": 0.5, "/calibration/peer_bandwidth": 3e9})");
  EXPECT_FALSE(json["figures_of_merit"]["latency"].contains("fraction"));
  EXPECT_EQ(json["field_memory"], 100 * ranks + ranks * (ranks - 1) / 2);
  EXPECT_GT(json["peak_memory"], ranks * 1000000);
  EXPECT_EQ(json["traffic"].size(), static_cast<std::size_t>(ranks * (ranks + 1) / 2));
  EXPECT_EQ(json["traffic"].back()["rank"], ranks - 1);
  EXPECT_EQ(json["hosts"], std::vector<std::string>{host_name()}) << "all ranks are on one node";
  EXPECT_EQ(json["ranks"], ranks);
  ASSERT_EQ(json["placement"].size(), static_cast<std::size_t>(ranks));
  EXPECT_EQ(json["placement"].back()["rank"], ranks - 1);
  EXPECT_EQ(json["placement"].back()["host"], host_name());
  EXPECT_NE(json["placement"].back()["cores"], "");
}

/// Two Views to the next rank, by the faster of two methods.
TEST(Record, OfAnExchange) {
  comm::Options options;
  options.pattern = comm::Pattern::automatic;
  options.packing = comm::Packing::none;
  options.trial = 0.001;
  const comm::Communicator comm(MPI_COMM_WORLD, options);
  const int ranks = comm.size(), next = (comm.rank() + 1) % ranks, last = (comm.rank() + ranks - 1) % ranks;
  using View = Kokkos::View<double*>;
  comm::Exchange<View> exchange(comm, "test/ring");
  for (const auto count : {5, 7}) exchange.add(View("to", count), next, View("from", count), last);
  exchange.commit();
  const auto json = record_of(comm, exchange);
  test::expect_values(json, R"({"/backend": "raw", "/packing": "none"})");
  EXPECT_GT(json.at("candidates").size(), 1u);
  EXPECT_GT(json.at("candidates")[0]["seconds"], 0);
  const nlohmann::ordered_json row{{"rank", comm.rank()}, {"neighbour", next}, {"messages", 2}, {"bytes", 96}};
  EXPECT_EQ(json.at("traffic"), nlohmann::ordered_json::array({row}));
}

TEST(Record, OfAFailedVerificationHasNoFigures) {
  const auto json = record_with(nlohmann::ordered_json::object(), {"e", 2, 1}, {{"updates", 5, "1/s", 10}});
  EXPECT_FALSE(json["verification"]["passed"]);
  EXPECT_EQ(json["verification"]["id"], "E-VERIFY");
  EXPECT_FALSE(json.contains("figure_of_merit") || json.contains("figures_of_merit"));
}

TEST(Record, NamesThatAreNotUtf8AreKept) {
  const auto text = json_text(record_with(nlohmann::ordered_json::object(), {}, {}, "heat \xff.yaml"));
  EXPECT_NE(text.find("heat \xef\xbf\xbd.yaml"), std::string::npos);
}

/// Of a repeat of 2 s that reads 3e9 bytes and writes 1e9, on a machine that reads and copies at such a rate.
FigureOfMerit figure_at(double rate) {
  const Calibration machine{.memory = {.read = rate, .copy = rate}};
  return limited_by_memory({"updates", 5, "1/s"}, 2, {.read = 3e9, .written = 1e9}, machine);
}

TEST(Figures, MemoryGivesTheAttainable) {
  EXPECT_EQ((FigureOfMerit{"x", 3, "1/s", 4}.fraction()), 0.75);
  EXPECT_TRUE(std::isnan((FigureOfMerit{"x", 3, "1/s"}.fraction())));
  EXPECT_DOUBLE_EQ(figure_at(4e9).attainable, 10);
  EXPECT_DOUBLE_EQ(figure_at(4e9).fraction(), 0.5);
  EXPECT_TRUE(std::isnan(figure_at(0).attainable));
  EXPECT_FALSE(figure_at(0).has_fraction());
}

TEST(Figures, AFractionAbove1Point2IsWithheld) {
  EXPECT_TRUE(figure_at(2e9 / 1.19).has_fraction());
  EXPECT_EQ(figure_at(2e9 / 1.19).remark(), "");
  auto of_passes = figure_at(2e9 / 4.7);
  of_passes.reuse = 4;
  EXPECT_TRUE(of_passes.has_fraction()) << "four sweeps share what is read";
  auto record = record_with(nlohmann::ordered_json::object(), {}, {figure_at(2e9 / 1.21)});
  record["timers"] = nlohmann::ordered_json::array();
  record["ranks"] = 1;
  const auto json = record["figure_of_merit"];
  EXPECT_EQ(keys(json), (Keys{"name", "value", "unit", "bytes_read", "bytes_written", "remark"}));
  EXPECT_EQ(json["value"], 5);
  EXPECT_EQ(json["bytes_read"], 3e9);
  EXPECT_NE(json["remark"].get<std::string>().find("error of the calibration"), std::string::npos);
  testing::internal::CaptureStdout();
  print_table(record, "", {});
  std::fflush(stdout);
  const auto text = testing::internal::GetCapturedStdout();
  EXPECT_NE(text.find(" on 1 rank"), std::string::npos) << text;
  EXPECT_EQ(text.find("1 ranks"), std::string::npos) << text;
  EXPECT_NE(text.find("updates: 5 1/s\n"), std::string::npos) << text;
  EXPECT_NE(text.find(json["remark"].get<std::string>()), std::string::npos) << text;
}

TEST(Verification, PassesWithinTheToleranceOnly) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  constexpr double infinite = std::numeric_limits<double>::infinity();
  EXPECT_TRUE((Verification{"e", 1, 1}.passed()));
  EXPECT_TRUE((Verification{"e", 1.1, 1}.failed()));
  EXPECT_TRUE((Verification{"e", nan, 1}.failed()));
  EXPECT_TRUE((Verification{"e", 1, infinite}.failed()));
  EXPECT_TRUE((Verification{.measure = "e", .conclusive = false}.failed()));
  const Verification off{.measure = "e", .off = true};
  EXPECT_FALSE(off.passed());
  EXPECT_FALSE(off.failed());
}

TEST(Timers, ARegionIsAddedUpUntilResetUnlessItIsTimedOnceARun) {
  Timers timers;
  timers.once("structure").add(2);
  auto& compute = timers["compute"];
  compute.add(2);
  compute.add(0.5, 3);
  EXPECT_EQ(&timers["compute"], &compute);
  EXPECT_EQ(compute.seconds, 2.5);
  EXPECT_EQ(compute.calls, 4);
  timers.uncounted([&] {
    compute.add(9);
    timers["late"].add(3);
    timers.once("structure").add(1);
  });
  EXPECT_EQ(compute.seconds, 2.5);
  EXPECT_EQ(compute.calls, 4);
  EXPECT_EQ(timers["late"].calls, 0);
  timers.reset();
  EXPECT_EQ(timers.entries().at("compute").seconds, 0);
  EXPECT_EQ(timers.entries().at("compute").calls, 0);
  EXPECT_EQ(&timers["compute"], &compute);
  EXPECT_EQ(timers.entries().at("structure").seconds, 3);
  EXPECT_EQ(timers.entries().at("structure").calls, 2);
  for (const auto& region : summarise(world(), timers)) EXPECT_EQ(region["once"], region["region"] == "structure");
}

TEST(Timers, TheOwnerOfARegionSaysWhatItsTimeGoesTo) {
  Timers timers;
  timers["sweeps"];
  timers.communication("reduce");
  timers.io("series");
  timers.once("structure");
  timers.once("read", "io");
  timers.add({.pack = 1, .post = 2, .wait = 3, .unpack = 4, .exchanges = 5});
  std::map<std::string, std::pair<std::string, double>> found; // what the time goes to, and seconds
  Keys inside;
  for (const auto& [region, timer] : timers.entries()) {
    found[region] = std::pair(timer.kind, timer.seconds);
    if (!timer.outside()) inside.insert(region);
  }
  const decltype(found) expected{{"sweeps", {"compute", 0}},    {"reduce", {"communication", 0}},
                                 {"series", {"io", 0}},         {"structure", {"other", 0}},
                                 {"read", {"io", 0}},           {"pack", {"packing", 1}},
                                 {"unpack", {"packing", 4}},    {"post", {"communication", 2}},
                                 {"wait", {"communication", 3}}};
  EXPECT_EQ(found, expected);
  EXPECT_EQ(inside, words("sweeps reduce pack unpack post wait"));
  EXPECT_EQ(timers.entries().at("wait").calls, 5);
}

TEST(ScopedTimer, OpensARegionOfKokkosToolsAndAddsTheTime) {
  namespace Tools = Kokkos::Tools::Experimental;
  static std::vector<std::string> opened; // Kokkos' callbacks carry no context of their own
  static int open;
  opened.clear();
  open = 0;
  Timers timers("ring");
  Tools::set_push_region_callback([](const char* name) {
    opened.emplace_back(name);
    ++open;
  });
  Tools::set_pop_region_callback([] { --open; });
  {
    const ScopedTimer scope(timers["compute"]);
    EXPECT_EQ(open, 1);
    comm::Stopwatch watch;
    for (double seconds = 0; seconds < 1e-3;) watch.lap(seconds);
  }
  { const ScopedTimer uncounted(timers["compute"], 0); }
  Tools::set_push_region_callback(nullptr);
  Tools::set_pop_region_callback(nullptr);
  EXPECT_EQ(open, 0);
  EXPECT_EQ(opened, std::vector<std::string>(2, "ring/compute"));
  EXPECT_GE(timers["compute"].seconds, 1e-3);
  EXPECT_EQ(timers["compute"].calls, 1);
}

TEST(Median, IsTheMiddleOrTheMeanOfTheTwo) {
  EXPECT_EQ(median({3, 1, 2}), 2);
  EXPECT_EQ(median({4, 1, 2, 3}), 2.5);
  EXPECT_EQ(median({7}), 7);
}

TEST(Summary, IsOverAllRanks) {
  const int last = world().size() - 1;
  Timers timers;
  timers["b"].add(world().rank() == last ? 10 : world().rank(), 7);
  timers["a"].add(1);
  const auto summary = summarise(world(), timers);
  if (world().rank() != 0) {
    EXPECT_TRUE(summary.empty());
    return;
  }
  ASSERT_EQ(summary.size(), 2u);
  const double mins[] = {10, 0, 0}, medians[] = {10, 5, 1}, sums[] = {10, 10, 11};
  EXPECT_EQ(summary[0], (nlohmann::ordered_json{{"region", "a"},
                                                {"calls", 1},
                                                {"min", 1},
                                                {"median", 1},
                                                {"max", 1},
                                                {"slowest_rank", 0},
                                                {"mean", 1},
                                                {"once", false},
                                                {"kind", "compute"}}));
  EXPECT_EQ(summary[1], (nlohmann::ordered_json{{"region", "b"},
                                                {"calls", 7},
                                                {"min", mins[last]},
                                                {"median", medians[last]},
                                                {"max", 10},
                                                {"slowest_rank", last},
                                                {"mean", sums[last] / world().size()},
                                                {"once", false},
                                                {"kind", "compute"}}));
}

TEST(PerRank, HasTheSecondsOfEachRankAndRepeat) {
  Timers timers;
  timers.once("structure").add(9);
  timers["wait"].add(1 + world().rank());
  timers.end_repeat(10);
  timers["wait"].add(0.5);
  timers["compute"].add(2 * world().rank()); // asked for in the second repeat only
  timers.io("series").add(7);
  timers.end_repeat(20 + world().rank());
  const auto json = timers.per_rank(world());
  EXPECT_EQ(json.empty(), world().rank() != 0);
  if (world().rank() != 0) return;
  EXPECT_EQ(json["regions"], (std::vector<std::string>{"compute", "wait"}));
  EXPECT_TRUE(json["useful"].is_boolean());
  ASSERT_EQ(json["seconds"].size(), 2u);
  ASSERT_EQ(json["seconds"][0].size(), static_cast<std::size_t>(world().size()));
  for (int rank = 0; rank < world().size(); ++rank) {
    EXPECT_EQ(json["seconds"][0][rank], (std::vector<double>{0, 1.0 + rank})) << rank;
    EXPECT_EQ(json["seconds"][1][rank], (std::vector<double>{2.0 * rank, 0.5})) << rank;
    EXPECT_EQ(json["wall"][0][rank], 10) << rank;
    EXPECT_EQ(json["wall"][1][rank], 20 + rank) << rank;
  }
}

TEST(Summary, OfRanksWithOtherRegionsIsThatOfTheFirst) {
  Timers timers;
  timers["compute"].add(1);
  if (world().rank() == 0) timers["extra"].add(3);
  if (world().rank() == 1) timers["other"].add(3);
  const auto summary = summarise(world(), timers);
  if (world().rank() != 0) return;
  ASSERT_EQ(summary.size(), 2u);
  EXPECT_EQ(summary[1]["region"], "extra");
  EXPECT_EQ(summary[1]["min"], world().size() > 1 ? 0 : 3);
  EXPECT_EQ(summary[1]["max"], 3);
}

} // namespace
