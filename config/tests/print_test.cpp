// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "options.hpp"

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
  EXPECT_EQ(again.x_min, options.x_min);
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
TEST(Print, KeepsTheTypeOfAValue) {
  const auto printed = [](auto value) {
    return kontor::config::print("a", [&](Visitor& v) { v.value("k", value, ""); });
  };
  for (const std::string text : {"null", "Yes", "1e3", ""}) EXPECT_EQ(printed(text), "app: a\nk: \"" + text + "\"\n");
  EXPECT_EQ(printed(std::string("plate_2")), "app: a\nk: plate_2\n");
  for (const auto& [number, text] : {std::pair(1.0, "1.0"), {-2e30, "-2.0e+30"}, {1.5e-7, "1.5e-07"}})
    EXPECT_EQ(printed(number), std::string("app: a\nk: ") + text + "\n");
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

/// Other keys are refused; required is what reading requires, which has no default; a formula is a text or a number.
TEST(Schema, DescribesADeckOfOneApp) {
  Options options;
  const auto side = [](const std::string& name) {
    return R"({"description": ")" + name + R"(", "anyOf": [
        {"type": "object", "properties": {"dirichlet": {"type": ["string", "number"]}},
         "required": ["dirichlet"], "additionalProperties": false},
        {"type": "object", "properties": {"neumann": {"type": ["string", "number"]}},
         "required": ["neumann"], "additionalProperties": false},
        {"const": "periodic"}], "default": {"dirichlet": "0"}})";
  };
  const auto section = [](const std::string& about, const std::string& required, const std::string& keys) {
    return R"({"description": ")" + about + R"(", "type": "object", "properties": {)" + keys + R"(}, "required": [)" +
           required + R"(], "additionalProperties": false})";
  };
  const auto problem = R"("cells": {"description": "Cells in each direction", "type": "array",
        "items": {"type": "integer", "minimum": 1}, "minItems": 2, "maxItems": 3},
      "lengths": {"description": "Edges of the domain", "type": "array",
        "items": {"type": "number", "exclusiveMinimum": 0.0}, "default": [1.0, 1.0]},
      "initial": {"description": "Values at the start", "type": ["string", "number"], "default": "0"},
      "exact": {"description": "The solution, if known",
        "anyOf": [{"type": ["string", "number"]}, {"const": "none"}], "default": "none"}, "boundary": )" +
                       section("What holds on each face", "",
                               R"("x_min": )" + side("The left face") + R"(, "x_max": )" + side("The right face"));
  const auto solver = R"(
      "depth": {"description": "Ghost cells", "type": "integer", "minimum": 1, "maximum": 8, "default": 1},
      "tolerance": {"description": "Stop below this residual", "type": "number",
        "exclusiveMinimum": 0.0, "default": 1e-10},
      "safety": {"description": "Fraction of the stable step", "type": "number", "exclusiveMinimum": 0.0,
        "maximum": 1.0, "default": 0.5},
      "time_step": {"description": "Seconds", "anyOf": [{"type": "number", "minimum": 0.0}, {"const": "auto"}],
        "default": "auto"},
      "seed": {"description": "Of the random numbers", "anyOf": [{"type": "integer"}, {"const": "auto"}],
        "default": "auto"},
      "grid": {"description": "Ranks in each direction", "anyOf": [{"type": "array",
        "items": {"type": "integer", "minimum": 1}, "minItems": 2, "maxItems": 2}, {"const": "auto"}],
        "default": "auto"})";
  const auto comm =
      R"("backend": {"description": "Who moves the halos", "enum": ["raw", "view", "null", null],
        "default": "view"},
      "overlap": {"description": "Compute while halos travel", "type": "boolean", "default": true})";
  EXPECT_EQ(json_schema("made_up", describer(options)),
            Json::parse(R"({
      "$schema": "https://json-schema.org/draft/2020-12/schema", "title": "Kontor deck for made_up", "type": "object",
      "properties": {"app": {"description": "The mini-app that the deck is for", "const": "made_up"}, "problem": )" +
                        section("What is solved", R"("cells")", problem) + R"(, "solver": )" +
                        section("How it is solved", "", solver) + R"(, "comm": )" +
                        section("How it is communicated", "", comm) +
                        R"(, "file": {"description": "Where the result goes", "type": "string", "default": "result.h5"},
      "data": {"description": "What is read", "type": "string", "default": ""}},
      "required": ["app", "problem"], "additionalProperties": false})"));
}

} // namespace
