// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "options.hpp"

#include <kontor/config/json_schema.hpp>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

using namespace made_up;
using Json = nlohmann::ordered_json;

namespace {

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
