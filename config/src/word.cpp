// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "leaf.hpp"
#include "names.hpp"

#include <kontor/config/limits.hpp>
#include <kontor/config/text.hpp>

#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <stdexcept>

namespace kontor::config {

bool Boolean::read(const Node& node, const std::string& path, Problems& problems) {
  if (!node.is_word("true") && !node.is_word("false")) return refuse(node, path, problems, "E-DECK-WORD");
  value_ = node.scalar == "true";
  return true;
}

bool Text::read(const Node& node, const std::string& path, Problems& problems) {
  if (!node.is_scalar()) return refuse(node, path, problems, "E-DECK-TYPE");
  if (node.scalar.find('\0') != std::string::npos) { // what takes C strings would see its beginning only
    problems.add(node.where(), fmt::format("{}: found a NUL character, which ends the text; remove it", path),
                 "E-DECK-TYPE");
    return false;
  }
  if (node.scalar.size() > limits::text) {
    problems.add(node.where(), fmt::format("{}: found {}; allowed: {} bytes", path, node.describe(), limits::text),
                 "E-DECK-LIMIT");
    return false;
  }
  value_ = node.scalar;
  return true;
}

bool Texts::read(const Node& node, const std::string& path, Problems& problems) {
  if (!node.is_scalar() && !node.is_sequence()) return refuse(node, path, problems, "E-DECK-TYPE");
  const auto several = node.is_sequence() ? node.children : std::vector<Node>{node};
  std::vector<std::string> values(several.size());
  bool good = true;
  for (std::size_t i = 0; i < several.size(); ++i) good &= Text(values[i]).read(several[i], path, problems);
  if (good) values_ = std::move(values);
  return good;
}

bool DeckKeysLeaf::read(const Node& node, const std::string& path, Problems& problems) {
  if (!node.is_mapping()) return refuse(node, path, problems, "E-DECK-TYPE");
  bool good = true;
  for (const auto& child : node.children) {
    keys_.values[child.key] = plain(child);
    keys_.places[child.key] = child.key_place.text();
    const bool list = child.is_sequence() && !child.children.empty();
    if (lists_ ? list : child.kind != Node::Kind::nothing) continue;
    problems.add(child.where(),
                 fmt::format("{}: found {}; allowed: {}", join_path(path, shown(child.key)), child.describe(),
                             lists_ ? "a list of one or more values" : "a value"),
                 "E-DECK-TYPE");
    good = false;
  }
  return good;
}

bool FileName::read(const Node& node, const std::string& path, Problems& problems) {
  if (!node.is_scalar()) return refuse(node, path, problems, "E-DECK-TYPE");
  std::string name;
  if (!Text(name).read(node, path, problems)) return false;
  namespace fs = std::filesystem;
  if (!name.empty()) {
    const bool in_deck = node.place.order == 0;
    const auto folder = in_deck ? fs::path(node.place.source).parent_path() : fs::path();
    std::error_code no_working_directory; // then the name stays relative
    const auto whole = fs::absolute(folder / name, no_working_directory);
    name = (no_working_directory ? folder / name : whole).lexically_normal().string();
  }
  value_.path = name;
  return true;
}

std::string Choice::expected() const { return listing(names_, "or"); }

bool Choice::read(const Node& node, const std::string& path, Problems& problems) {
  if (!node.is_scalar()) return refuse(node, path, problems, "E-DECK-TYPE");
  const auto found = std::find(names_.begin(), names_.end(), node.scalar);
  if (found == names_.end()) {
    const auto near = nearest(node.scalar, names_);
    return refuse(node, path, problems, "E-DECK-WORD", near ? fmt::format(" (did you mean {}?)", *near) : "");
  }
  chosen_ = static_cast<std::size_t>(found - names_.begin());
  return true;
}

Json Choice::json() const {
  if (chosen_ >= names_.size()) throw std::logic_error("an option holds none of its words: " + expected());
  return names_[chosen_];
}

Json Choice::schema() const {
  Json words = names_;
  // An editor takes an unquoted null for the absent value.
  if (std::find(names_.begin(), names_.end(), "null") != names_.end()) words.push_back(nullptr);
  return {{"enum", words}};
}

std::string Choices::expected() const {
  return fmt::format("a list of {}{}", lengths_.min > 0 ? "one or more of " : "", fmt::join(names_, ", "));
}

bool Choices::read(const Node& node, const std::string& path, Problems& problems) {
  const auto count = node.children.size();
  if (!node.is_sequence()) return refuse(node, path, problems, "E-DECK-TYPE");
  if (count < lengths_.min || count > lengths_.max) return refuse(node, path, problems, "E-DECK-RANGE");
  std::vector<std::size_t> chosen(count);
  bool good = true;
  for (std::size_t i = 0; i < count; ++i) {
    Choice element(chosen[i], names_);
    good &= element.read(node.children[i], fmt::format("{}[{}]", path, i), problems);
  }
  for (auto one = chosen.begin(); good && one != chosen.end(); ++one)
    if (std::find(chosen.begin(), one, *one) != one)
      return refuse(node, path, problems, "E-DECK-WORD", fmt::format(" with {} twice", names_[*one]));
  if (good) chosen_ = std::move(chosen);
  return good;
}

Json Choices::json() const {
  Json words = Json::array();
  for (const auto i : chosen_) words.push_back(names_.at(i));
  return words;
}

Json Choices::schema() const {
  std::size_t any = 0;
  Json result{{"type", "array"}, {"items", Choice(any, names_).schema()}, {"uniqueItems", true}};
  if (lengths_.min > 0) result["minItems"] = lengths_.min;
  return result;
}

} // namespace kontor::config
