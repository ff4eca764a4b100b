// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "options.hpp"

#include <kontor/config/json_schema.hpp>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace {

using Json = nlohmann::ordered_json;
using namespace made_up;

std::string printed_deck(Options& options) { return kontor::config::print("made_up", describer(options)); }

TEST(Print, ShowsEveryKeyWithItsDefault) {
  Options options;
  EXPECT_EQ(printed_deck(options), R"(app: made_up
problem:
  cells: [64, 64]
  lengths: [1.0, 1.0]
  initial: "0"
  exact: none
  boundary:
    x_min: {dirichlet: "0"}
    x_max: {dirichlet: "0"}
solver:
  depth: 1
  tolerance: 1.0e-10
  safety: 0.5
  time_step: auto
  seed: auto
  grid: auto
comm:
  backend: view
  overlap: true
file: "result.h5"
data: ""
)");
}

TEST(Print, GivesTheSameOptionsWhenReadAgain) {
  Options options;
  options.cells = {1, 2, INT64_MAX};
  options.lengths = {0.1, 1e300, 5e-324};
  options.initial = Expression("min(x, y) > 0.5 ? -x^2 : 1e-3");
  options.exact = Expression("x");
  options.x_min = {Side::neumann, Expression("sin(pi*y)")};
  options.x_max = {Side::periodic, Expression()};
  options.depth = 8;
  options.tolerance = 1.0 / 3;
  options.time_step = 123456789.0;
  options.seed = INT64_MIN;
  options.grid = {3, 2};
  options.backend = Transport::null;
  options.overlap = false;
  options.file = "no: \"tricky\"\n\t\\ # name \u00e4 \x01.h5";
  options.data.path = "/there/a file.mtx";
  const auto text = printed_deck(options);
  auto again = read(text);
  EXPECT_EQ(printed_deck(again), text);
  EXPECT_EQ(again.cells, options.cells);
  EXPECT_EQ(again.lengths, options.lengths);
  EXPECT_EQ(again.initial, options.initial);
  EXPECT_EQ(again.exact, options.exact);
  EXPECT_EQ(again.x_min.kind, Side::neumann);
  EXPECT_EQ(again.x_min.value, options.x_min.value);
  EXPECT_EQ(again.x_max.kind, Side::periodic);
  EXPECT_EQ(again.tolerance, options.tolerance);
  EXPECT_EQ(again.time_step, options.time_step);
  EXPECT_EQ(again.seed, options.seed);
  EXPECT_EQ(again.grid, options.grid);
  EXPECT_EQ(again.backend, Transport::null);
  EXPECT_EQ(again.file, options.file);
  EXPECT_EQ(again.data.path, options.data.path);
}

/// Other YAML readers, which follow YAML 1.1, must see the same types.
TEST(Print, QuotesWhatYamlWouldTakeForSomethingElse) {
  const auto printed = [](std::string text) {
    return kontor::config::print("a", [&](Visitor& v) { v.value("k", text, ""); });
  };
  EXPECT_EQ(printed("null"), "app: a\nk: \"null\"\n");
  EXPECT_EQ(printed("Yes"), "app: a\nk: \"Yes\"\n");
  EXPECT_EQ(printed("1e3"), "app: a\nk: \"1e3\"\n");
  EXPECT_EQ(printed(""), "app: a\nk: \"\"\n");
  EXPECT_EQ(printed("plate_2"), "app: a\nk: plate_2\n");
}

TEST(Print, NumbersKeepTheirType) {
  const auto printed = [](double number) {
    return kontor::config::print("a", [&](Visitor& v) { v.value("k", number, ""); });
  };
  EXPECT_EQ(printed(1), "app: a\nk: 1.0\n");
  EXPECT_EQ(printed(-2e30), "app: a\nk: -2.0e+30\n");
  EXPECT_EQ(printed(1.5e-7), "app: a\nk: 1.5e-07\n");
}

TEST(Print, LeavesOutSectionsWithoutKeys) {
  const auto describe = [](Visitor& v) { v.section("nothing", "", [](Visitor&) {}); };
  EXPECT_EQ(kontor::config::print("a", describe), "app: a\n");
}

TEST(Print, RefusesAnOptionWithoutAWord) {
  Transport backend = static_cast<Transport>(17);
  const auto describe = [&](Visitor& v) { v.choice("backend", backend, transports, ""); };
  EXPECT_THROW(kontor::config::print("a", describe), std::logic_error);
}

Json schema() {
  Options options;
  return json_schema("made_up", describer(options));
}

Json key(const std::string& section, const std::string& name) {
  return schema()["properties"][section]["properties"][name];
}

TEST(Schema, DescribesADeckOfOneApp) {
  const auto s = schema();
  EXPECT_EQ(s["$schema"], "https://json-schema.org/draft/2020-12/schema");
  EXPECT_EQ(s["type"], "object");
  EXPECT_EQ(s["properties"]["app"]["const"], "made_up");
  std::vector<std::string> names;
  for (const auto& [name, value] : s["properties"].items()) names.push_back(name);
  EXPECT_EQ(names, (std::vector<std::string>{"app", "problem", "solver", "comm", "file", "data"}));
}

TEST(Schema, AllowsNoOtherKeys) {
  const auto s = schema();
  EXPECT_EQ(s["additionalProperties"], false);
  EXPECT_EQ(s["properties"]["problem"]["additionalProperties"], false);
  EXPECT_EQ(s["properties"]["problem"]["properties"]["boundary"]["additionalProperties"], false);
}

TEST(Schema, RequiresWhatReadingRequires) {
  EXPECT_EQ(schema()["required"], Json::parse(R"(["app", "problem"])"));
  EXPECT_EQ(schema()["properties"]["problem"]["required"], Json::parse(R"(["cells"])"));
  EXPECT_EQ(schema()["properties"]["comm"]["required"], Json::array());
  EXPECT_FALSE(key("problem", "cells").contains("default"));
}

TEST(Schema, GivesTypesRangesAndDefaults) {
  EXPECT_EQ(key("problem", "cells"), Json::parse(R"({"description": "Cells in each direction", "type": "array",
      "items": {"type": "integer", "minimum": 1}, "minItems": 2, "maxItems": 3})"));
  EXPECT_EQ(key("problem", "lengths"), Json::parse(R"({"description": "Edges of the domain", "type": "array",
      "items": {"type": "number", "exclusiveMinimum": 0.0}, "default": [1.0, 1.0]})"));
  EXPECT_EQ(key("solver", "depth"), Json::parse(R"({"description": "Ghost cells", "type": "integer",
      "minimum": 1, "maximum": 8, "default": 1})"));
  EXPECT_EQ(key("solver", "time_step"), Json::parse(R"({"description": "Seconds",
      "anyOf": [{"type": "number", "minimum": 0.0}, {"const": "auto"}], "default": "auto"})"));
  EXPECT_EQ(key("comm", "overlap"),
            Json::parse(R"({"description": "Compute while halos travel", "type": "boolean", "default": true})"));
  EXPECT_EQ(schema()["properties"]["file"],
            Json::parse(R"({"description": "Where the result goes", "type": "string", "default": "result.h5"})"));
}

TEST(Schema, ListsTheAllowedWords) {
  EXPECT_EQ(key("comm", "backend"), Json::parse(R"({"description": "Who moves the halos",
      "enum": ["raw", "view", "null", null], "default": "view"})"));
}

TEST(Schema, TakesFormulasAsTextOrNumber) {
  EXPECT_EQ(key("problem", "initial"), Json::parse(R"({"description": "Values at the start",
      "type": ["string", "number"], "default": "0"})"));
  EXPECT_EQ(key("problem", "exact")["anyOf"], Json::parse(R"([{"type": ["string", "number"]}, {"const": "none"}])"));
}

TEST(Schema, ListsTheFormsOfATaggedValue) {
  EXPECT_EQ(key("problem", "boundary")["properties"]["x_min"], Json::parse(R"({"description": "The left face",
      "anyOf": [
        {"type": "object", "properties": {"dirichlet": {"type": ["string", "number"]}},
         "required": ["dirichlet"], "additionalProperties": false},
        {"type": "object", "properties": {"neumann": {"type": ["string", "number"]}},
         "required": ["neumann"], "additionalProperties": false},
        {"const": "periodic"}],
      "default": {"dirichlet": "0"}})"));
}

} // namespace
