// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "number.hpp"

#include <optional>
#include <vector>

namespace kontor::config {

/// A list of numbers.
template <class T>
class Sequence final : public Leaf {
 public:
  Sequence(std::vector<T>& values, Range<T> range, Lengths lengths)
      : values_(values), range_(range), lengths_(lengths) {}

  std::string expected() const override {
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
    return result;
  }

 private:
  std::vector<T>& values_;
  Range<T> range_;
  Lengths lengths_;
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
