// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tree.hpp"

#include <kontor/config/error.hpp>
#include <kontor/config/limits.hpp>
#include <kontor/config/text.hpp>

#include <fmt/format.h>

namespace kontor::config {
namespace {

/// "a.b.c" as its parts; empty if one of them is.
std::vector<std::string> split(std::string_view path) {
  std::vector<std::string> parts;
  while (true) {
    const auto dot = path.find('.');
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

} // namespace

void apply_override(Node& root, const std::string& text, int n, Problems& problems) {
  const Place place{"--set " + shown(text), n};
  const auto equals = text.find('=');
  if (equals == std::string::npos)
    return problems.add(place, "an override is written section.key=value", "E-USAGE-OPTION");
  const auto keys = split(std::string_view(text).substr(0, equals));
  if (keys.empty())
    return problems.add(place, "an override is written section.key=value; a key is empty", "E-USAGE-OPTION");
  if (keys.size() > limits::depth)
    return problems.add(place,
                        fmt::format("the key is {} sections deep; this is more than the {} that a deck may have",
                                    keys.size(), limits::depth),
                        "E-DECK-LIMIT");
  if (keys.front() == "app")
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

} // namespace kontor::config
