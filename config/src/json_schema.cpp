// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "leaf.hpp"

#include <kontor/config/json_schema.hpp>

namespace kontor::config {
namespace {

/// Adds the keys of one section to its schema.
class SchemaWriter final : public Visitor {
 public:
  explicit SchemaWriter(Json& section) : section_(section) {
    section_["type"] = "object";
    section_["properties"] = Json::object();
    section_["required"] = Json::array();
    section_["additionalProperties"] = false;
  }

  void add(std::string_view key, Json schema, bool required) {
    section_["properties"][std::string(key)] = std::move(schema);
    if (required) section_["required"].push_back(key);
  }

 private:
  void visit_section(const Key& key, const Body& body) override {
    Json schema{{"description", key.help}};
    SchemaWriter inner(schema);
    body(inner);
    // A section that must hold a key must itself be there.
    const bool required = key.required || !schema["required"].empty();
    add(key.name, std::move(schema), required);
  }

  void visit_leaf(const Key& key, Leaf& leaf) override {
    Json schema{{"description", key.help}};
    schema.update(leaf.schema());
    if (!key.required) schema["default"] = leaf.json();
    add(key.name, std::move(schema), key.required);
  }

  Json& section_;
};

} // namespace

nlohmann::ordered_json json_schema(std::string_view app, const std::function<void(Visitor&)>& describe) {
  Json schema{{"$schema", "https://json-schema.org/draft/2020-12/schema"},
              {"title", fmt::format("Kontor deck for {}", app)}};
  SchemaWriter writer(schema);
  writer.add("app", {{"description", "The mini-app that the deck is for"}, {"const", app}}, true);
  describe(writer);
  return schema;
}

} // namespace kontor::config
