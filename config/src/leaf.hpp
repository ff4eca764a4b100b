// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "tree.hpp"

#include <kontor/config/location.hpp>
#include <kontor/config/visitor.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <map>

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

/// What a value means by itself: a number, true or false, or else a text; a list or a mapping of them.
Json plain(const Node& node);

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

/// An integer or a floating-point number within a range; T is std::int64_t or double.
template <class T>
class Number final : public Leaf {
 public:
  Number(T& value, Range<T> range) : value_(value), range_(range) {}

  /// "integer" or "number".
  static std::string_view noun() { return std::is_integral_v<T> ? "integer" : "number"; }

  std::string expected() const override;
  bool read(const Node& node, const std::string& path, Problems& problems) override;
  Json json() const override { return value_; }
  Json schema() const override;

 private:
  T& value_;
  Range<T> range_;
};

extern template class Number<std::int64_t>;
extern template class Number<double>;

/// A formula of some variables, or a number.
class Formula final : public Leaf {
 public:
  Formula(Expression& value, Visitor::Names variables)
      : value_(value), variables_(variables.begin(), variables.end()) {}

  std::string expected() const override;
  bool read(const Node& node, const std::string& path, Problems& problems) override;
  void set_location(const Location& location) override { value_ = Expression(value_.text(), location); }
  Json json() const override { return value_.text(); }
  Json schema() const override { return {{"type", {"string", "number"}}}; }

 private:
  Expression& value_;
  std::vector<std::string> variables_;
};

/// One of several forms: a word, or a word with a formula; `chosen` is its number.
class TaggedFormula final : public Leaf {
 public:
  TaggedFormula(std::size_t& chosen, Expression& value, const std::vector<Visitor::Form>& forms,
                Visitor::Names variables)
      : chosen_(chosen), value_(value), forms_(forms), variables_(variables) {}

  std::string expected() const override;
  bool read(const Node& node, const std::string& path, Problems& problems) override;
  void set_location(const Location& location) override { value_ = Expression(value_.text(), location); }
  Json json() const override;
  Json schema() const override;

 private:
  std::size_t& chosen_;
  Expression& value_;
  const std::vector<Visitor::Form>& forms_;
  Visitor::Names variables_;
};

/// A list of numbers.
template <class T>
class Sequence final : public Leaf {
 public:
  Sequence(std::vector<T>& values, Range<T> range, Lengths lengths)
      : values_(values), range_(range), lengths_(lengths) {}

  std::string expected() const override {
    if (lengths_.single) {
      T any{};
      return fmt::format("{}, or a list of them", Number<T>(any, range_).expected());
    }
    const auto noun = Number<T>::noun();
    const bool bounded = lengths_.max != Lengths{}.max;
    if (bounded && lengths_.min == lengths_.max)
      return fmt::format("a list of {} {}{}", lengths_.min, noun, lengths_.min == 1 ? "" : "s");
    if (bounded && lengths_.min > 0) return fmt::format("a list of {} to {} {}s", lengths_.min, lengths_.max, noun);
    if (bounded) return fmt::format("a list of at most {} {}s", lengths_.max, noun);
    if (lengths_.min > 0) return fmt::format("a list of {} or more {}s", lengths_.min, noun);
    return fmt::format("a list of {}s", noun);
  }

  bool read(const Node& node, const std::string& path, Problems& problems) override {
    if (lengths_.single && node.is_scalar()) {
      values_.resize(1);
      return Number<T>(values_[0], range_).read(node, path, problems);
    }
    const auto count = node.children.size();
    if (!node.is_sequence()) return refuse(node, path, problems, "E-DECK-TYPE");
    if (count < lengths_.min || count > lengths_.max) return refuse(node, path, problems, "E-DECK-RANGE");
    std::vector<T> values(count);
    bool good = true;
    for (std::size_t i = 0; i < count; ++i) {
      Number<T> element(values[i], range_);
      good &= element.read(node.children[i], fmt::format("{}[{}]", path, i), problems);
    }
    if (good) values_ = std::move(values);
    return good;
  }

  Json json() const override { return values_; }

  Json schema() const override {
    T any{};
    Json result{{"type", "array"}, {"items", Number<T>(any, range_).schema()}};
    if (lengths_.min > 0) result["minItems"] = lengths_.min;
    if (lengths_.max != Lengths{}.max) result["maxItems"] = lengths_.max;
    if (lengths_.single) return {{"anyOf", {Number<T>(any, range_).schema(), result}}};
    return result;
  }

 private:
  std::vector<T>& values_;
  Range<T> range_;
  Lengths lengths_;
};

/// A text, or a list of texts.
class Texts final : public Leaf {
 public:
  explicit Texts(std::vector<std::string>& values) : values_(values) {}

  std::string expected() const override { return "a text, or a list of texts"; }
  bool read(const Node& node, const std::string& path, Problems& problems) override;
  Json json() const override { return values_; }
  Json schema() const override {
    const Json one{{"type", "string"}};
    return {{"anyOf", {one, {{"type", "array"}, {"items", one}}}}};
  }

 private:
  std::vector<std::string>& values_;
};

/// Keys of decks that a study gives, such as comm.backend. The decks' app checks them and their values.
struct DeckKeys {
  Json values = Json::object();
  std::map<std::string, std::string, std::less<>> places{}; ///< of the keys
};

/// Keys of decks, each with a value, or with the list of values that it takes.
class DeckKeysLeaf final : public Leaf {
 public:
  DeckKeysLeaf(DeckKeys& keys, bool lists) : keys_(keys), lists_(lists) {}

  std::string expected() const override {
    return fmt::format("keys of decks and their {}", lists_ ? "lists of values" : "values");
  }
  bool read(const Node& node, const std::string& path, Problems& problems) override;
  Json json() const override { return keys_.values; }
  Json schema() const override {
    const Json list{{"type", "array"}, {"minItems", 1}};
    return {{"type", "object"}, {"additionalProperties", lists_ ? list : Json(true)}};
  }

 private:
  DeckKeys& keys_;
  bool lists_;
};

/// What `Inner`, a leaf of T, takes, or one word for its absence.
template <class T, class Inner>
class Optional final : public Leaf {
 public:
  /// `arguments` are those of Inner's constructor after the value.
  template <class... Arguments>
  Optional(std::optional<T>& value, std::string_view word, const Arguments&... arguments)
      : target_(value), word_(word), value_(value.value_or(T{})), inner_(value_, arguments...) {
    inner_.also_takes(word);
  }

  std::string expected() const override { return fmt::format("{}, or {}", inner_.expected(), word_); }

  bool read(const Node& node, const std::string& path, Problems& problems) override {
    if (node.is_scalar() && node.scalar == word_) {
      target_.reset();
      return true;
    }
    if (!inner_.read(node, path, problems)) return false;
    target_ = value_;
    return true;
  }

  void set_location(const Location& location) override {
    inner_.set_location(location);
    if (target_) target_ = value_;
  }

  Json json() const override { return target_ ? inner_.json() : Json(word_); }
  Json schema() const override { return {{"anyOf", {inner_.schema(), {{"const", word_}}}}}; }

 private:
  std::optional<T>& target_;
  std::string word_;
  T value_;
  Inner inner_;
};

} // namespace kontor::config
