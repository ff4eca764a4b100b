// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "pingpong/bench.hpp"
#include "run/tests/refusal.hpp"
#include "timing/findings.hpp"

#include <gtest/gtest.h>

namespace {

using namespace kontor;
using namespace kontor::pingpong;
using Sizes = std::vector<std::int64_t>;

Options read(const std::string& problem, int ranks = 2) {
  Options options;
  const auto deck = config::Deck::parse("{app: pingpong, problem: {" + problem + "}}", "test.yaml");
  deck.read([&](config::Visitor& v) { options.describe(v); });
  options.resolve(deck, ranks);
  return options;
}

std::string refusal(const std::string& problem, double memory = 1e9, int ranks = 2) {
  return miniapp::test::error_of([&] {
    std::vector<std::string> notes;
    cases(read(problem, ranks), ranks, memory, notes);
  });
}

TEST(Options, RefuseWhatTheMeasureDoesNotTake) {
  const std::string conflict = "[E-DECK-CONFLICT]", range = "[E-DECK-RANGE]", count = "[E-DECK-RANKS]";
  struct Refused {
    std::string problem, says, id;
    int ranks = 2;
  };
  std::vector<Refused> all{
      {"dimensions: [3], sizes: {from: 4, to: 2000}", "problem.sizes.to is 2000, which in 3-D", range},
      {"sizes: {from: 4, to: 2}", "problem.sizes.to is 2, below problem.sizes.from, 4", conflict},
      {"measure: model, sizes: {from: 4, to: 8}", "problem.sizes.to is 8, which with problem.sizes.factor 2", conflict},
      {"measure: collectives, dimensions: [3]", "problem.dimensions[0] is 3; problem.measure collectives takes 1",
       conflict},
      {"measure: model, dimensions: [3]", "problem.dimensions[0] is 3; problem.measure model takes 1", conflict},
      {"measure: exchange, dimensions: [3]", "problem.dimensions[0] is 3; problem.measure exchange takes 1, 2",
       conflict},
      {"measure: calls, backends: [raw]", "problem.backends is [raw]", conflict},
      {"measure: calls, paths: [direct]", "problem.paths is [direct]", conflict},
      {"measure: calls, fields: 2", "problem.fields is 2", conflict},
      {"measure: collectives, pairs: one", "problem.pairs is one", conflict},
      {"measure: model, pairs: one", "problem.pairs is one", conflict},
  };
  for (const std::string one : {"roundtrip", "halo", "collectives", "model", "exchange", "calls"})
    all.push_back({"measure: " + one, "problem.measure " + one + " takes 2 ranks or more", count, 1});
  for (const std::string one : {"roundtrip", "exchange", "calls"})
    all.push_back({"measure: " + one, "problem.measure " + one + " pairs the ranks, but there are 3", count, 3});
  for (const auto& [problem, says, id, ranks] : all)
    miniapp::test::expect_facts(refusal(problem, 1e9, ranks), {": " + says, id}, problem);
}

/// The cases of a deck in so much memory, and the notes.
std::pair<std::vector<Case>, std::vector<std::string>> cases_of(const std::string& problem, double memory) {
  std::vector<std::string> notes;
  auto all = cases(read(problem), 2, memory, notes);
  return {all, notes};
}

TEST(Cases, AreDimensionsTimesScalars) {
  const auto [all, notes] = cases_of("dimensions: [1, 3], sizes: {from: 3, to: 50, factor: 4}", 1e9);
  ASSERT_EQ(all.size(), 4U);
  EXPECT_EQ(all[0].dimensions, 1);
  EXPECT_EQ(all[3].dimensions, 3);
  EXPECT_EQ(all[0].scalar, ScalarName::of_int);
  EXPECT_EQ(all[1].scalar, ScalarName::of_double);
  for (const auto& c : all) EXPECT_EQ(c.sizes, (Sizes{3, 12, 48, 50}));
  EXPECT_TRUE(notes.empty());
}

TEST(Cases, BytesAreThoseOfTheViewsOfAMeasure) {
  const auto bytes = [](const std::string& problem, int dimensions) {
    return bytes_of_views(read(problem + ", sizes: {from: 4, to: 16}", 4), 4, dimensions, ScalarName::of_double, 10);
  };
  EXPECT_EQ(bytes("measure: roundtrip, dimensions: [3]", 3), 2 * 8000);
  EXPECT_EQ(bytes("measure: collectives", 1), 7 * 4 * 80);
  EXPECT_EQ(bytes("measure: exchange, dimensions: [2]", 2), 2 * 80 * 12);
  EXPECT_EQ(bytes("measure: halo, dimensions: [2], fields: 3", 2), 3 * (10 + 2) * 24 * 8) << "rows begin a cache line";
}

TEST(Cases, RefuseWhatDoesNotFit) {
  EXPECT_EQ(refusal("scalars: [int], sizes: {from: 64, to: 2048, memory: 100}", 100),
            "test.yaml:1:57: problem.sizes.from is too large: at size 64, 1-D int, the Views of a rank take "
            "5.12e-07 GB, and 1e-07 GB are allowed by problem.sizes.memory [E-MEMORY]");
}

TEST(Cases, LeaveOutWhatDoesNotFit) {
  const auto [all, notes] = cases_of("scalars: [double], sizes: {from: 64, to: 1024}", 300 * 16);
  EXPECT_EQ(all.front().sizes, (Sizes{64, 128, 256}));
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_EQ(notes[0], "left out, because they do not fit in 4.8e-06 GB a rank: 1-D double of size 512, 1024");
}

/// HDF5 tables want the same keys in every row.
TEST(Findings, RowsHaveEqualKeys) {
  Findings findings;
  const Subject subject{"1d double", 64, 64, 512};
  findings.points = {{subject, "raw", summarise({1e-6, 3e-6})}, {subject, "typed", summarise({2e-6}), {1, 2, 3, 4, 5}}};
  findings.ratios = {{subject, "typed", "raw", {1.25, 1.0, 1.5}}};
  const auto json = to_json(findings);
  ASSERT_EQ(json["curves"].size(), 2U);
  EXPECT_EQ(json["curves"][0].size(), json["curves"][1].size());
  EXPECT_EQ(json["curves"][1]["pack"], 1.0);
  EXPECT_EQ(json["curves"][1]["unpack"], 4.0);
  EXPECT_EQ(json["curves"][0]["messages"], 1);
  EXPECT_EQ(json["ratios"][0]["ratio"], 1.25);
  const auto text = to_text(findings);
  EXPECT_NE(text.find("1d double"), std::string::npos) << text;
  EXPECT_NE(text.find("raw 2.000  typed 2.000   typed/raw 1.250 [1.000, 1.500]"), std::string::npos) << text;
}

TEST(Findings, TypedOverRawIsMedianAndWorst) {
  Findings findings;
  for (const double ratio : {1.0, 1.5, 1.1}) findings.ratios.push_back({{}, "typed", "raw", {ratio, 1, 2}});
  const auto figures = typed_over_raw(findings);
  EXPECT_EQ(figures[0].name, "typed_over_raw");
  EXPECT_EQ(figures[0].value, 1.1);
  EXPECT_EQ(figures[1].value, 1.5);
}

} // namespace
