// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/config/expression.hpp>
#include <kontor/config/location.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace kontor::config {

class Leaf;
struct DeckKeys;

/// The numbers a key may hold, both ends included unless said otherwise.
template <class T>
struct Range {
  T min = std::numeric_limits<T>::lowest(); ///< the least
  T max = std::numeric_limits<T>::max();    ///< the greatest
  bool exclusive_min = false;               ///< `min` itself is not allowed
};

/// How many elements a list may have.
struct Lengths {
  std::size_t min = 0;                                       ///< the fewest
  std::size_t max = std::numeric_limits<std::size_t>::max(); ///< the most
  bool single = false;                                       ///< one may stand without brackets
};

/// One allowed word and what it stands for.
template <class E>
struct Named {
  std::string_view name; ///< the word
  E value;               ///< what it stands for
};

/// A chosen value that knows where the deck gives it, for errors that show later.
template <class E>
struct Chosen {
  E value{};              ///< what was chosen
  Location location = {}; ///< of its key; empty for what is not from a deck

  Chosen() = default;
  /// A default, or a choice of a program's own.
  Chosen(E chosen) : value(chosen) {} // NOLINT(google-explicit-constructor): stands for its value
  /// Another choice, at the same place.
  Chosen& operator=(E chosen) {
    value = chosen;
    return *this;
  }
  /// What was chosen.
  operator E() const { return value; } // NOLINT(google-explicit-constructor)
};

/// One form of a tagged value: `name` alone, or `{name: <expression>}`.
template <class E>
struct Tagged {
  std::string_view name;   ///< the word
  E value;                 ///< what it stands for
  bool takes_value = true; ///< whether a formula follows
};

/// Walks an app's options. Each option struct has one function `describe(Visitor&)` that names its keys; the same
/// function then reads a deck, prints one and writes the JSON schema. Each key is named once. The value an option holds
/// before reading is its default.
class Visitor {
 public:
  /// Names the keys of a nested mapping.
  using Body = std::function<void(Visitor&)>;
  /// Words, such as the variables of a formula.
  using Names = std::span<const std::string_view>;

  virtual ~Visitor() = default;

  /// The next key must be in the deck: v.required().value("cells", ...).
  Visitor& required();

  /// A nested mapping.
  void section(std::string_view key, std::string_view help, const Body& body);

  ///@{
  /// A truth value, a number in its range, a text, or a list of numbers.
  void value(std::string_view key, bool& value, std::string_view help);
  void value(std::string_view key, std::int64_t& value, std::string_view help, Range<std::int64_t> range = {});
  void value(std::string_view key, double& value, std::string_view help, Range<double> range = {});
  void value(std::string_view key, std::string& value, std::string_view help);
  void value(std::string_view key, std::vector<std::int64_t>& value, std::string_view help,
             Range<std::int64_t> range = {}, Lengths lengths = {});
  void value(std::string_view key, std::vector<double>& value, std::string_view help, Range<double> range = {},
             Lengths lengths = {});
  ///@}

  /// A text, or a list of texts.
  void value(std::string_view key, std::vector<std::string>& values, std::string_view help);

  /// Keys of decks, each with a value or, if `lists`, with a list of values.
  void value(std::string_view key, DeckKeys& keys, std::string_view help, bool lists);

  /// A file to read; empty: none.
  void value(std::string_view key, InputFile& value, std::string_view help);

  ///@{
  /// The word `auto` stands for nullopt.
  void value(std::string_view key, std::optional<std::int64_t>& value, std::string_view help,
             Range<std::int64_t> range = {});
  void value(std::string_view key, std::optional<double>& value, std::string_view help, Range<double> range = {});
  void value(std::string_view key, std::optional<std::vector<std::int64_t>>& value, std::string_view help,
             Range<std::int64_t> range = {}, Lengths lengths = {});
  ///@}

  ///@{
  /// A formula of the named variables, or a number. For an optional one the word `none` stands for nullopt.
  void value(std::string_view key, Expression& value, Names variables, std::string_view help);
  void value(std::string_view key, std::optional<Expression>& value, Names variables, std::string_view help);
  ///@}

  /// One of the allowed words. E is any type with ==: an enum, or std::string where the words come from a list known
  /// only at run time.
  template <class E>
  void choice(std::string_view key, E& value, std::span<const Named<std::type_identity_t<E>>> allowed,
              std::string_view help) {
    std::size_t chosen = 0;
    std::vector<std::string_view> names;
    for (const auto& option : allowed) {
      if (!(option.value == value) && chosen == names.size()) ++chosen;
      names.push_back(option.name);
    }
    choose(key, chosen, names, help);
    if (chosen < allowed.size()) value = allowed[chosen].value;
  }

  /// The same; the option learns its place.
  template <class E>
  void choice(std::string_view key, Chosen<E>& value, std::span<const Named<std::type_identity_t<E>>> allowed,
              std::string_view help) {
    learn_ = &value.location;
    choice<E>(key, value.value, allowed, help);
  }

  /// A list of the allowed words.
  template <class E>
  void choices(std::string_view key, std::vector<E>& values, std::span<const Named<std::type_identity_t<E>>> allowed,
               std::string_view help, Lengths lengths = {}) {
    std::vector<std::size_t> chosen;
    std::vector<std::string_view> names;
    for (const auto& option : allowed) names.push_back(option.name);
    for (const auto& value : values)
      for (std::size_t i = 0; i < allowed.size(); ++i)
        if (allowed[i].value == value) chosen.push_back(i);
    choose_some(key, chosen, names, help, lengths);
    values.clear();
    for (const auto i : chosen) values.push_back(allowed[i].value);
  }

  /// One of several forms, some of which carry a formula: `periodic`, or `{dirichlet: "sin(pi*y)"}`. A form without a
  /// formula leaves `value` as it is.
  template <class E>
  void tagged(std::string_view key, E& kind, Expression& value, std::span<const Tagged<std::type_identity_t<E>>> forms,
              Names variables, std::string_view help) {
    std::size_t chosen = 0;
    std::vector<Form> erased;
    for (const auto& form : forms) {
      if (!(form.value == kind) && chosen == erased.size()) ++chosen;
      erased.push_back({form.name, form.takes_value});
    }
    tag(key, chosen, value, erased, variables, help);
    if (chosen < forms.size()) kind = forms[chosen].value;
  }

  /// A form of a tagged value without its enumerator.
  struct Form {
    std::string_view name; ///< the word
    bool takes_value;      ///< whether a formula follows
  };

 protected:
  /// What each kind of visitor is told of a key.
  struct Key {
    std::string_view name; ///< within its section
    std::string_view help; ///< one line for people
    bool required;         ///< whether the deck must have it
  };

 private:
  virtual void visit_section(const Key& key, const Body& body) = 0;
  virtual void visit_leaf(const Key& key, Leaf& leaf) = 0;

  void choose(std::string_view key, std::size_t& chosen, const std::vector<std::string_view>& names,
              std::string_view help);
  void choose_some(std::string_view key, std::vector<std::size_t>& chosen, const std::vector<std::string_view>& names,
                   std::string_view help, Lengths lengths);
  void tag(std::string_view key, std::size_t& chosen, Expression& value, const std::vector<Form>& forms,
           Names variables, std::string_view help);
  Key take(std::string_view key, std::string_view help);

  bool required_ = false;
  Location* learn_ = nullptr; ///< where the next choice is to be noted
};

} // namespace kontor::config
