// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/config/error.hpp>
#include <kontor/config/location.hpp>
#include <kontor/config/visitor.hpp>

#include <nlohmann/json_fwd.hpp>

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace kontor::config {

/// The text of a deck's file, of which no more than limits::bytes + 1 are read: /dev/zero ends, too. Throws Error if it
/// cannot be read.
std::string read_text(const std::string& path);

/// What a file is: a deck, of the app that it names, or a study.
enum class Document { deck, study };

/// An input deck: the YAML text with the overrides applied, and where each key stands. Copies are cheap.
class Deck {
 public:
  /// `text` is the YAML, `file` its name in messages; each override reads "section.key=value", value in YAML, and they
  /// are applied in order. Throws Error if the text is empty, malformed, not a mapping, more than one document or above
  /// a limit of limits.hpp; every other mistake waits for read(), so that all are listed together.
  static Deck parse(std::string text, std::string file, const std::vector<std::string>& overrides = {},
                    Document document = Document::deck);

  /// The value of the `app` key: letters, digits, `_` and `-`. Throws Error if there is none.
  std::string app() const;

  /// Fills the options that `describe` names; keys absent from the deck keep their defaults.
  /// Throws one Error that lists every mistake in line order; the options are then partly filled.
  void read(const std::function<void(Visitor&)>& describe) const;

  /// What the text and the overrides give. Throws Error for what is wrong without knowing the options.
  nlohmann::ordered_json given() const;

  /// Where `path` ("comm.backend", "problem.cells[1]") is given: "file:line:column" counted from 1, the override as
  /// typed, or the nearest enclosing section or file if it is absent.
  std::string locate(std::string_view path) const;

  /// The same with the key, to keep for messages of later.
  Location location(std::string_view path) const;

  /// For checks that concern several keys: throws Error{"<locate(path)>: <path> <message>"}.
  [[noreturn]] void fail(std::string_view path, std::string_view message, errors::Id id = "E-DECK-CONFLICT") const;

 private:
  struct State;
  explicit Deck(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  std::shared_ptr<const State> state_;
};

/// A key of a deck, such as "comm.backend", and its value as print() writes it.
struct Setting {
  std::string key;   ///< with its sections
  std::string value; ///< as YAML, on one line
};

/// The keys that describe() names, in its order, with the values that the options have.
std::vector<Setting> settings(const std::function<void(Visitor&)>& describe);

/// The files that options name, each with its key: those that are not empty, in describe()'s order.
std::vector<InputFile> input_files(const std::function<void(Visitor&)>& describe);

/// The same, with each value as JSON.
nlohmann::ordered_json values(const std::function<void(Visitor&)>& describe);

/// The deck that gives these options: every key with its value, in describe()'s order; without an app, that of a study.
std::string print(std::string_view app, const std::function<void(Visitor&)>& describe);

/// The JSON Schema (draft 2020-12) of an app's decks: types, ranges, allowed words, defaults and help texts. Editors
/// complete and check decks with it. Defaults are what the described options hold now. Without an app, that of studies.
nlohmann::ordered_json json_schema(std::string_view app, const std::function<void(Visitor&)>& describe);

} // namespace kontor::config
