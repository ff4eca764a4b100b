// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/errors/id.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace kontor::config {

/// Where something was written: in the deck's file or in one of the overrides.
struct Place {
  std::string source; ///< the file's name, or the override as typed
  int order = 0;      ///< 0: the file; n: the n-th override
  int line = 0;       ///< from 1; 0: the source as a whole
  int column = 0;     ///< from 1

  /// "source:line:column", or "source".
  std::string text() const;
};

/// A value of the deck. A mapping's children carry their keys, in the order written.
struct Node {
  enum class Kind { nothing, scalar, sequence, mapping };

  Kind kind = Kind::nothing;
  std::string scalar{};
  bool quoted = false;
  Place place{};
  std::string key{};
  Place key_place{};
  std::vector<Node> children{};

  bool is_mapping() const { return kind == Kind::mapping; }
  bool is_sequence() const { return kind == Kind::sequence; }
  bool is_scalar() const { return kind == Kind::scalar; }
  /// An unquoted scalar with this text.
  bool is_word(std::string_view word) const { return is_scalar() && !quoted && scalar == word; }

  /// The child with this key, or nullptr.
  const Node* find(std::string_view name) const;
  Node* find(std::string_view name);

  /// The place to show to a user: the value's, or the key's for mappings and absent values.
  const Place& where() const;
  /// What was found, for messages: "text", a list of 3, a section, nothing.
  std::string describe() const;
};

/// "section.key", or "key" at the top.
std::string join_path(std::string_view section, std::string_view key);

/// The mistakes found in a deck so far.
class Problems {
 public:
  void add(const Place& place, std::string message, errors::Id id);
  bool empty() const { return problems_.empty(); }

  /// Throws Error with the first limits::mistakes of them, file before overrides, by line and column, and the number of
  /// the others; returns if there are none.
  void raise() const;

 private:
  struct Problem {
    Place place;
    std::string message;
  };
  std::vector<Problem> problems_;
};

/// Parses YAML into a tree; `source` says where the text is from (its line and column are ignored). Duplicate keys,
/// merge keys and tags go to `problems`; throws Error where no tree can be made or a limit of limits.hpp is passed.
Node parse_yaml(const std::string& text, const Place& source, Problems& problems);

} // namespace kontor::config
