// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tree.hpp"

#include <kontor/config/error.hpp>
#include <kontor/config/limits.hpp>
#include <kontor/config/location.hpp>
#include <kontor/config/text.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <tuple>

namespace kontor::config {
namespace {

/// Whatever a message quotes of a deck, a formula or a file's name, no control character reaches a terminal.
std::string joined(std::vector<std::string>& messages, errors::Id id) {
  for (auto& message : messages) message = errors::with_id(printable(message, '\n'), id);
  return fmt::format("{}", fmt::join(messages, "\n"));
}

} // namespace

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

void Problems::add(const Place& place, std::string message, errors::Id id) {
  problems_.push_back({place, errors::with_id(std::move(message), id)});
}

void Problems::raise() const {
  if (problems_.empty()) return;
  auto sorted = problems_;
  std::stable_sort(sorted.begin(), sorted.end(), [](const Problem& a, const Problem& b) {
    const auto key = [](const Place& p) { return std::tuple(p.order, p.line, p.column); };
    return key(a.place) < key(b.place);
  });
  std::vector<std::string> messages;
  const auto listed = std::min(sorted.size(), limits::mistakes);
  for (std::size_t i = 0; i < listed; ++i)
    messages.push_back(fmt::format("{}: {}", sorted[i].place.text(), sorted[i].message));
  if (listed < sorted.size())
    messages.back() += fmt::format("\nand {} more mistakes, which are not listed", sorted.size() - listed);
  throw Error(std::move(messages), "E-DECK-KEY"); // which none lacks
}

Error::Error(std::vector<std::string> messages, errors::Id id)
    : std::runtime_error(joined(messages, id)), messages_(std::move(messages)) {}

std::string Location::text() const {
  return place.empty() || key.empty() ? place + key : fmt::format("{}: {}", place, key);
}

void Location::fail(std::string_view message, errors::Id id) const {
  const auto where = text();
  throw Error({fmt::format("{}{}{}", where, where.empty() ? "" : " ", message)}, id);
}

} // namespace kontor::config
