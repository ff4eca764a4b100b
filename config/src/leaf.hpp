// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "problems.hpp"
#include "tree.hpp"

#include <kontor/config/input_file.hpp>
#include <kontor/config/location.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <string>
#include <string_view>

namespace kontor::config {

using Json = nlohmann::ordered_json;

/// One option that is not a section, and all that a kind of value needs: to be read, printed and described. A leaf
/// refers to the option and lives only while it is visited.
class Leaf {
 public:
  virtual ~Leaf() = default;

  /// What the deck may give, to follow "expects".
  virtual std::string expected() const = 0;
  /// Sets the option and returns true, or adds to `problems` and returns false.
  virtual bool read(const Node& node, const std::string& path, Problems& problems) = 0;
  /// Tells an option that keeps it where its key is given, or would be. Comes after read().
  virtual void set_location(const Location&) {}
  /// The option, if it is the name of a file.
  virtual const InputFile* file() const { return nullptr; }
  /// The option's present value.
  virtual Json json() const = 0;
  /// Its JSON schema, without default and description.
  virtual Json schema() const = 0;

  /// A word that stands for the option's absence, for messages.
  void also_takes(std::string_view word) { alternative_ = fmt::format(", or {}", word); }

 protected:
  /// Adds "<path>: found <node><hint>; allowed: <expected>"; returns false.
  bool refuse(const Node& node, const std::string& path, Problems& problems, errors::Id id,
              std::string_view hint = "") const {
    problems.add(node.where(),
                 fmt::format("{}: found {}{}; allowed: {}{}", path, node.describe(), hint, expected(), alternative_),
                 id);
    return false;
  }

 private:
  std::string alternative_;
};

} // namespace kontor::config
