// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "reader.hpp"
#include "tree.hpp"

#include <kontor/config/deck.hpp>
#include <kontor/config/limits.hpp>
#include <kontor/config/text.hpp>
#include <kontor/config/unused.hpp>

#include <fmt/format.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>

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

std::string read_text(const std::string& path) {
  const auto refuse = [&](std::string_view reason) {
    throw Error({fmt::format("{}: cannot read the deck: {}", path, reason)}, "E-FILE-READ");
  };
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) refuse("it is a directory");
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::string text(limits::bytes + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (!file.is_open() || file.bad()) refuse(std::strerror(errno));
  text.resize(static_cast<std::size_t>(file.gcount()));
  return text;
}

void UnusedKeys::refuse_unless(bool used, std::string_view path, std::string_view needs) const {
  if (used) return;
  for (std::size_t i = 0; i < given_.size(); ++i) {
    const auto& [key, value] = given_[i];
    const bool below = key.starts_with(path) && (key.size() == path.size() || key[path.size()] == '.');
    if (below && value != defaults_[i].value)
      deck_.fail(key, fmt::format("is {}, but not used: {} for that; leave it out", shown(value), needs));
  }
}

} // namespace kontor::config
