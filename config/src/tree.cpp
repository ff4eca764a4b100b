// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tree.hpp"

#include <kontor/config/text.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace kontor::config {

std::string Place::text() const { return line == 0 ? source : fmt::format("{}:{}:{}", source, line, column); }

Node* Node::find(std::string_view name) {
  const auto found = std::find_if(children.begin(), children.end(), [&](auto& child) { return child.key == name; });
  return found == children.end() ? nullptr : &*found;
}

const Node* Node::find(std::string_view name) const { return const_cast<Node*>(this)->find(name); }

const Place& Node::where() const { return kind == Kind::nothing || kind == Kind::mapping ? key_place : place; }

std::string Node::describe() const {
  switch (kind) {
  case Kind::scalar: return in_quotes(scalar);
  case Kind::sequence: return fmt::format("a list of {}", children.size());
  case Kind::mapping: return "a section";
  case Kind::nothing: break;
  }
  return "nothing";
}

std::string join_path(std::string_view section, std::string_view key) {
  return section.empty() ? std::string(key) : fmt::format("{}.{}", section, key);
}

} // namespace kontor::config
