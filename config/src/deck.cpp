// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "leaf.hpp"
#include "names.hpp"
#include "tree.hpp"

#include <kontor/config/deck.hpp>
#include <kontor/config/limits.hpp>
#include <kontor/config/text.hpp>
#include <kontor/config/unused.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>

namespace kontor::config {

struct Deck::State {
  Document document;
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

/// "a.b.c" as its parts, of a study's keys two: "set" and "comm.backend"; empty if one of them is.
std::vector<std::string> split(std::string_view path, Document document) {
  std::vector<std::string> parts;
  while (true) {
    const auto dot = document == Document::study && !parts.empty() ? std::string_view::npos : path.find('.');
    parts.emplace_back(path.substr(0, dot));
    if (parts.back().empty()) return {};
    if (dot == std::string_view::npos) return parts;
    path.remove_prefix(dot + 1);
  }
}

Node& child(Node& mapping, const std::string& key, const Place& place) {
  if (Node* found = mapping.find(key)) return *found;
  mapping.children.push_back({.place = place, .key = key, .key_place = place});
  return mapping.children.back();
}

/// Applies the n-th override (from 1), "section.key=value", to the tree.
void apply_override(Node& root, const std::string& text, int n, Document document, Problems& problems) {
  const Place place{"--set " + shown(text), n};
  const auto equals = text.find('=');
  if (equals == std::string::npos)
    return problems.add(place, "an override is written section.key=value", "E-USAGE-OPTION");
  const auto keys = split(std::string_view(text).substr(0, equals), document);
  if (keys.empty())
    return problems.add(place, "an override is written section.key=value; a key is empty", "E-USAGE-OPTION");
  if (keys.size() > limits::depth)
    return problems.add(place,
                        fmt::format("the key is {} sections deep; this is more than the {} that a file may have",
                                    keys.size(), limits::depth),
                        "E-DECK-LIMIT");
  if (document == Document::deck && keys.front() == "app")
    return problems.add(place, "app cannot be overridden; use a deck of that app", "E-DECK-APP");

  Node value;
  try {
    value = parse_yaml(text.substr(equals + 1), place, problems);
  } catch (const Error& error) {
    return problems.add(place, std::string(error.what()).substr(place.text().size() + 2), "E-DECK-SYNTAX");
  }

  Node* section = &root;
  std::string path;
  for (std::size_t i = 0; i + 1 < keys.size(); ++i) {
    section = &child(*section, keys[i], place);
    path = join_path(path, keys[i]);
    if (section->kind == Node::Kind::nothing) section->kind = Node::Kind::mapping;
    if (!section->is_mapping())
      return problems.add(
          place,
          fmt::format("{} is not a section, it is {} at {}", shown(path), section->describe(), section->where().text()),
          "E-DECK-TYPE");
  }
  Node& target = child(*section, keys.back(), place);
  value.key = keys.back();
  value.key_place = place;
  value.place = place;
  target = std::move(value);
}

/// Fills options from a deck's tree.
class Reader final : public Visitor {
 public:
  Reader(const Node& root, Document document, Problems& problems) : problems_(problems) {
    here_.node = &root;
    here_.place = root.key_place;
    if (document == Document::deck) here_.known = {"app"};
  }

  /// Reports the keys that nothing asked for; call it after describe().
  void report_unknown() {
    collect_unknown();
    for (const auto& unknown : unknown_)
      problems_.add(
          unknown.node->key_place,
          fmt::format("{} is unknown; {}", join_path(unknown.section, shown(unknown.node->key)), advice(unknown)),
          "E-DECK-KEY");
  }

 private:
  /// The section being read.
  struct Section {
    const Node* node = nullptr; ///< nullptr if the deck does not give it
    std::string path;
    Place place;                ///< of the nearest section that the deck gives
    bool report_missing = true; ///< false below a mistake that is reported already
    std::vector<std::string> known{};
  };
  struct Unknown {
    const Node* node;
    std::string section;
    std::vector<std::string> known;
  };

  void visit_section(const Key& key, const Body& body) override {
    const Node* node = find(key);
    Section inner{
        .path = join_path(here_.path, key.name), .place = here_.place, .report_missing = here_.report_missing};
    if (node && node->is_mapping()) {
      inner.node = node;
      inner.place = node->where();
    } else if (node) {
      problems_.add(node->where(), fmt::format("{}: found {}; allowed: a section", inner.path, node->describe()),
                    "E-DECK-TYPE");
      inner.report_missing = false;
    } else if (key.required && here_.report_missing) {
      problems_.add(here_.place, fmt::format("{} is missing; it expects a section", inner.path), "E-DECK-KEY");
      inner.report_missing = false;
    }
    std::swap(here_, inner);
    body(*this);
    collect_unknown();
    std::swap(here_, inner);
  }

  void visit_leaf(const Key& key, Leaf& leaf) override {
    const auto path = join_path(here_.path, key.name);
    const Node* node = find(key);
    if (node) {
      leaf.read(*node, path, problems_);
    } else if (key.required && here_.report_missing) {
      problems_.add(here_.place, fmt::format("{} is missing; it expects {}", path, leaf.expected()), "E-DECK-KEY");
    }
    leaf.set_location({(node ? node->where() : here_.place).text(), path});
  }

  /// The key's node; notes that the key is known.
  const Node* find(const Key& key) {
    const auto path = join_path(here_.path, key.name);
    if (!paths_.insert(path).second) throw std::logic_error("the key " + path + " is described twice");
    here_.known.emplace_back(key.name);
    return here_.node ? here_.node->find(key.name) : nullptr;
  }

  void collect_unknown() {
    if (!here_.node) return;
    for (const auto& child : here_.node->children) {
      const auto& known = here_.known;
      if (std::find(known.begin(), known.end(), child.key) == known.end())
        unknown_.push_back({&child, here_.path, known});
    }
  }

  /// A key of the same section with a similar name, else one of this name elsewhere, else what there is.
  std::string advice(const Unknown& unknown) const {
    const auto& key = unknown.node->key;
    if (const auto near = nearest(key, unknown.known))
      return fmt::format("did you mean {}?", join_path(unknown.section, *near));
    for (const auto& path : paths_)
      if (path.ends_with("." + key)) return fmt::format("did you mean {}?", path);
    if (paths_.contains(key))
      return unknown.section.empty() ? "keys are nested, not joined by dots" : fmt::format("did you mean {}?", key);
    return fmt::format("known here: {}", fmt::join(unknown.known, ", "));
  }

  Problems& problems_;
  Section here_;
  std::vector<Unknown> unknown_;
  std::set<std::string> paths_; ///< all keys described
};

} // namespace

Deck Deck::parse(std::string text, std::string file, const std::vector<std::string>& overrides, Document document) {
  const Place source{printable(file)};
  if (text.size() > limits::bytes)
    throw Error({fmt::format("{}: the file has more than {} bytes; this is the most that it may have", source.text(),
                             limits::bytes)},
                "E-DECK-LIMIT");
  if (text.starts_with("\xEF\xBB\xBF")) text.erase(0, 3); // a byte order mark
  auto state = std::make_shared<State>();
  auto& [kind, root, problems] = *state;
  kind = document;
  root = parse_yaml(text, source, problems);
  if (root.kind == Node::Kind::nothing)
    throw Error({fmt::format("{}: the file is empty; it must have a mapping of keys to values", source.text())},
                "E-DECK-SYNTAX");
  if (!root.is_mapping())
    throw Error({fmt::format("{}: a {} is a mapping of keys to values, found {}", root.place.text(),
                             document == Document::deck ? "deck" : "study", root.describe())},
                "E-DECK-SYNTAX");
  root.key_place = source;
  int n = 0;
  for (const auto& override : overrides) apply_override(root, override, ++n, document, problems);
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
  if (state_->document == Document::deck) find_app(state_->root, problems);
  Reader reader(state_->root, state_->document, problems);
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

nlohmann::ordered_json Deck::given() const {
  state_->problems.raise();
  return plain(state_->root);
}

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
