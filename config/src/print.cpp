// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "leaf.hpp"

#include <kontor/config/deck.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>

namespace kontor::config {
namespace {

/// Whether every YAML reader takes the unquoted text for a string.
bool is_plain(std::string_view text) {
  static constexpr std::array<std::string_view, 9> reserved{"null", "true", "false", "yes", "no",
                                                            "on",   "off",  "y",     "n"};
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return std::tolower(c); });
  if (text.empty() || !std::isalpha(static_cast<unsigned char>(text[0]))) return false;
  if (std::find(reserved.begin(), reserved.end(), lower) != reserved.end()) return false;
  return std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isalnum(c) || c == '_' || c == '-'; });
}

/// The shortest text that reads back as the same double, with the point that YAML 1.1 readers want.
std::string yaml_number(double value) {
  auto text = fmt::format("{}", value);
  if (text.find('.') != std::string::npos) return text;
  return text.insert(std::min(text.find('e'), text.size()), ".0");
}

std::string yaml_text(const std::string& text) {
  return is_plain(text) ? text : Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// One value, on one line.
std::string yaml(const Json& value) {
  std::vector<std::string> parts;
  switch (value.type()) {
  case Json::value_t::number_float: return yaml_number(value.get<double>());
  case Json::value_t::string: return yaml_text(value.get<std::string>());
  case Json::value_t::array:
    for (const auto& element : value) parts.push_back(yaml(element));
    return fmt::format("[{}]", fmt::join(parts, ", "));
  case Json::value_t::object:
    for (const auto& [key, element] : value.items()) parts.push_back(fmt::format("{}: {}", key, yaml(element)));
    return fmt::format("{{{}}}", fmt::join(parts, ", "));
  default: return value.dump();
  }
}

class Printer final : public Visitor {
 public:
  std::string text;

 private:
  void visit_section(const Key& key, const Body& body) override {
    const auto before = text.size();
    text += fmt::format("{:{}}{}:\n", "", indent_, key.name);
    const auto header_end = text.size();
    indent_ += 2;
    body(*this);
    indent_ -= 2;
    if (text.size() == header_end) text.resize(before); // a section without keys
  }

  void visit_leaf(const Key& key, Leaf& leaf) override {
    text += fmt::format("{:{}}{}: {}\n", "", indent_, key.name, yaml(leaf.json()));
  }

  int indent_ = 0;
};

/// Calls take(key with its sections, leaf) for all keys.
class EachLeaf final : public Visitor {
 public:
  using Take = std::function<void(const std::string& key, const Leaf& leaf)>;
  explicit EachLeaf(Take take) : take_(std::move(take)) {}

 private:
  void visit_section(const Key& key, const Body& body) override {
    const auto outer = prefix_;
    prefix_ += fmt::format("{}.", key.name);
    body(*this);
    prefix_ = outer;
  }

  void visit_leaf(const Key& key, Leaf& leaf) override { take_(fmt::format("{}{}", prefix_, key.name), leaf); }

  Take take_;
  std::string prefix_;
};

} // namespace

std::vector<Setting> settings(const std::function<void(Visitor&)>& describe) {
  std::vector<Setting> settings;
  EachLeaf each([&](const std::string& key, const Leaf& leaf) { settings.push_back({key, yaml(leaf.json())}); });
  describe(each);
  return settings;
}

nlohmann::ordered_json values(const std::function<void(Visitor&)>& describe) {
  Json values = Json::object();
  EachLeaf each([&](const std::string& key, const Leaf& leaf) { values[key] = leaf.json(); });
  describe(each);
  return values;
}

std::vector<InputFile> input_files(const std::function<void(Visitor&)>& describe) {
  std::vector<InputFile> files;
  EachLeaf each([&](const std::string&, const Leaf& leaf) {
    if (const auto* file = leaf.file(); file && !file->path.empty()) files.push_back(*file);
  });
  describe(each);
  return files;
}

std::string print(std::string_view app, const std::function<void(Visitor&)>& describe) {
  Printer printer;
  if (!app.empty()) printer.text = fmt::format("app: {}\n", yaml_text(std::string(app)));
  describe(printer);
  return std::move(printer.text);
}

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
              {"title", app.empty() ? "Kontor study" : fmt::format("Kontor deck for {}", app)}};
  SchemaWriter writer(schema);
  if (!app.empty()) writer.add("app", {{"description", "The mini-app that the deck is for"}, {"const", app}}, true);
  describe(writer);
  return schema;
}

} // namespace kontor::config
