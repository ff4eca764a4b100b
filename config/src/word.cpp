// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "word.hpp"

#include "names.hpp"

#include <algorithm>
#include <stdexcept>

namespace kontor::config {

bool Boolean::read(const Node& node, const std::string& path, Problems& problems) {
  if (!node.is_word("true") && !node.is_word("false")) return refuse(node, path, problems);
  value_ = node.scalar == "true";
  return true;
}

bool Text::read(const Node& node, const std::string& path, Problems& problems) {
  if (!node.is_scalar()) return refuse(node, path, problems);
  value_ = node.scalar;
  return true;
}

std::string Choice::expected() const {
  return listing(names_, "or");
}

bool Choice::read(const Node& node, const std::string& path, Problems& problems) {
  if (!node.is_scalar()) return refuse(node, path, problems);
  const auto found = std::find(names_.begin(), names_.end(), node.scalar);
  if (found == names_.end()) {
    const auto near = nearest(node.scalar, names_);
    return refuse(node, path, problems, near ? fmt::format("; did you mean {}?", *near) : "");
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

} // namespace kontor::config
