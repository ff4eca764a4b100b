// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "leaf.hpp"

#include <kontor/config/visitor.hpp>

namespace kontor::config {

/// `true` or `false`; the other spellings of YAML are refused.
class Boolean final : public Leaf {
 public:
  explicit Boolean(bool& value) : value_(value) {}

  std::string expected() const override { return "true or false"; }
  bool read(const Node& node, const std::string& path, Problems& problems) override;
  Json json() const override { return value_; }
  Json schema() const override { return {{"type", "boolean"}}; }

 private:
  bool& value_;
};

/// Any text.
class Text final : public Leaf {
 public:
  explicit Text(std::string& value) : value_(value) {}

  std::string expected() const override { return "a text"; }
  bool read(const Node& node, const std::string& path, Problems& problems) override;
  Json json() const override { return value_; }
  Json schema() const override { return {{"type", "string"}}; }

 private:
  std::string& value_;
};

/// The name of a file.
class FileName final : public Leaf {
 public:
  explicit FileName(InputFile& value) : value_(value) {}

  std::string expected() const override { return "the name of a file"; }
  bool read(const Node& node, const std::string& path, Problems& problems) override;
  void set_location(const Location& location) override { value_.location = location; }
  const InputFile* file() const override { return &value_; }
  Json json() const override { return value_.path; }
  Json schema() const override { return {{"type", "string"}}; }

 private:
  InputFile& value_;
};

/// One of some words; `chosen` is its number, names.size() if the option holds none of them.
class Choice final : public Leaf {
 public:
  /// `location` of its key, if not null, is noted there.
  Choice(std::size_t& chosen, const std::vector<std::string_view>& names, Location* location = nullptr)
      : chosen_(chosen), names_(names.begin(), names.end()), location_(location) {}

  void set_location(const Location& location) override {
    if (location_) *location_ = location;
  }

  std::string expected() const override;
  bool read(const Node& node, const std::string& path, Problems& problems) override;
  Json json() const override;
  Json schema() const override;

 private:
  std::size_t& chosen_;
  std::vector<std::string> names_;
  Location* location_;
};

/// A list of some words; `chosen` are their numbers.
class Choices final : public Leaf {
 public:
  Choices(std::vector<std::size_t>& chosen, const std::vector<std::string_view>& names, Lengths lengths)
      : chosen_(chosen), names_(names), lengths_(lengths) {}

  std::string expected() const override;
  bool read(const Node& node, const std::string& path, Problems& problems) override;
  Json json() const override;
  Json schema() const override;

 private:
  std::vector<std::size_t>& chosen_;
  const std::vector<std::string_view>& names_;
  Lengths lengths_;
};

} // namespace kontor::config
