// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "overrides.hpp"
#include "problems.hpp"
#include "reader.hpp"
#include "yaml.hpp"

#include <kontor/config/deck.hpp>
#include <kontor/config/limits.hpp>
#include <kontor/config/text.hpp>

#include <fmt/format.h>

#include <charconv>

namespace kontor::config {

struct Deck::State {
  Node root;
  Problems problems; ///< found before the options are known
};

namespace {

/// What a program can be called.
bool is_name(const Node& node) {
  constexpr std::string_view allowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
  return node.is_scalar() && !node.scalar.empty() && node.scalar.find_first_not_of(allowed) == std::string::npos;
}

/// Checks the `app` key; nullptr if it is missing or wrong, which is then among the problems.
const Node* find_app(const Node& root, Problems& problems) {
  const Node* app = root.find("app");
  if (!app) {
    problems.add(root.key_place, "app is missing; it names the mini-app, as in app: heat", "E-DECK-APP");
  } else if (!is_name(*app)) {
    problems.add(app->where(), fmt::format("app: found {}; allowed: the name of a mini-app", app->describe()),
                 "E-DECK-APP");
  } else {
    return app;
  }
  return nullptr;
}

/// The child that "key" or "key[2]" names.
const Node* find_part(const Node& node, std::string_view part) {
  const auto bracket = part.find('[');
  const Node* found = node.find(part.substr(0, bracket));
  if (!found || bracket == std::string_view::npos) return found;
  std::size_t index = 0;
  std::from_chars(part.data() + bracket + 1, part.data() + part.size(), index);
  return found->is_sequence() && index < found->children.size() ? &found->children[index] : found;
}

} // namespace

Deck Deck::parse(std::string text, std::string file, const std::vector<std::string>& overrides) {
  const Place source{printable(file)};
  if (text.size() > limits::bytes)
    throw Error({fmt::format("{}: the deck has more than {} bytes; this is the most that it may have", source.text(),
                             limits::bytes)},
                "E-DECK-LIMIT");
  if (text.starts_with("\xEF\xBB\xBF")) text.erase(0, 3); // a byte order mark
  auto state = std::make_shared<State>();
  auto& [root, problems] = *state;
  root = parse_yaml(text, source, problems);
  if (root.kind == Node::Kind::nothing)
    throw Error({fmt::format("{}: the deck is empty; it must have a mapping of keys to values", source.text())},
                "E-DECK-SYNTAX");
  if (!root.is_mapping())
    throw Error(
        {fmt::format("{}: a deck is a mapping of keys to values, found {}", root.place.text(), root.describe())},
        "E-DECK-SYNTAX");
  root.key_place = source;
  int n = 0;
  for (const auto& override : overrides) apply_override(root, override, ++n, problems);
  return Deck(std::move(state));
}

std::string Deck::app() const {
  Problems problems = state_->problems;
  const Node* app = find_app(state_->root, problems);
  if (!app) problems.raise();
  return app->scalar;
}

void Deck::read(const std::function<void(Visitor&)>& describe) const {
  Problems problems = state_->problems;
  find_app(state_->root, problems);
  Reader reader(state_->root, problems);
  describe(reader);
  reader.report_unknown();
  problems.raise();
}

std::string Deck::locate(std::string_view path) const {
  const Node* node = &state_->root;
  while (!path.empty()) {
    const auto dot = path.find('.');
    const Node* next = find_part(*node, path.substr(0, dot));
    if (!next) break;
    node = next;
    path.remove_prefix(dot == std::string_view::npos ? path.size() : dot + 1);
  }
  return node->where().text();
}

Location Deck::location(std::string_view path) const { return {locate(path), std::string(path)}; }

void Deck::fail(std::string_view path, std::string_view message, errors::Id id) const {
  location(path).fail(message, id);
}

} // namespace kontor::config
