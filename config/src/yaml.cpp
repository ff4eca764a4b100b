// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tree.hpp"

#include <kontor/config/error.hpp>
#include <kontor/config/limits.hpp>
#include <kontor/config/text.hpp>

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <map>
#include <optional>
#include <sstream>

namespace kontor::config {
namespace {

[[noreturn]] void refuse(const Place& place, std::string_view message, errors::Id id) {
  throw Error({fmt::format("{}: {}", place.text(), message)}, id);
}

/// The node and all that it contains.
std::size_t count(const Node& node) {
  std::size_t nodes = 1;
  for (const auto& child : node.children) nodes += count(child);
  return nodes;
}

/// Builds the tree from the parser's events. YAML::Node would hide quotes, the word `null` and repeated keys. Throws
/// Error as soon as a limit is passed.
class Builder final : public YAML::EventHandler {
 public:
  Builder(const std::string& text, const Place& source, Problems& problems)
      : text_(text), source_(source), problems_(problems) {}

  Node take() { return std::move(root_); }

  Place place(const YAML::Mark& mark) const {
    if (source_.order != 0 || mark.is_null()) return {source_.source, source_.order};
    return {source_.source, 0, mark.line + 1, mark.column + 1};
  }

 private:
  struct Open {
    Node node;
    YAML::anchor_t anchor;
    std::optional<Node> key; ///< of the mapping's entry whose value comes next
  };

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}

  /// The parser reports `null` and `~` as it does an absent value; they are words like others here.
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    Node node{.kind = Node::Kind::nothing, .place = place(mark)};
    for (const std::string word : {"null", "Null", "NULL", "~"}) {
      if (!mark.is_null() && std::size_t(mark.pos) <= text_.size() && text_.compare(mark.pos, word.size(), word) == 0 &&
          !is_key(mark.pos + word.size())) {
        node.kind = Node::Kind::scalar;
        node.scalar = word;
      }
    }
    complete(std::move(node), anchor);
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    Node node{.place = place(mark)};
    if (const auto found = anchors_.find(anchor); found != anchors_.end()) {
      spend(count(found->second), place(mark));
      node = found->second;
      node.place = place(mark);
    } else {
      problems_.add(node.place, "this alias stands inside the value that it names; write the value", "E-DECK-SYNTAX");
    }
    complete(std::move(node), 0);
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    refuse_tag(mark, tag);
    complete({.kind = Node::Kind::scalar, .scalar = value, .quoted = tag != "?", .place = place(mark)}, anchor);
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    refuse_tag(mark, tag);
    open({.kind = Node::Kind::sequence, .place = place(mark)}, anchor);
  }

  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    refuse_tag(mark, tag);
    open({.kind = Node::Kind::mapping, .place = place(mark)}, anchor);
  }

  void OnSequenceEnd() override { close(); }
  void OnMapEnd() override { close(); }

  void open(Node node, YAML::anchor_t anchor) {
    if (open_.size() == limits::depth)
      refuse(node.place,
             fmt::format("sections and lists stand inside each other more than {} deep; this is the "
                         "most that a file may have",
                         limits::depth),
             "E-DECK-LIMIT");
    open_.push_back({std::move(node), anchor, {}});
  }

  void close() {
    Open done = std::move(open_.back());
    open_.pop_back();
    complete(std::move(done.node), done.anchor);
  }

  void complete(Node node, YAML::anchor_t anchor) {
    node.key_place = node.place;
    spend(1, node.place);
    if (anchor != 0) {
      spend(count(node), node.place);
      anchors_[anchor] = node;
    }
    if (open_.empty()) {
      root_ = std::move(node);
    } else if (open_.back().node.is_sequence()) {
      open_.back().node.children.push_back(std::move(node));
    } else if (!open_.back().key) {
      open_.back().key = std::move(node);
    } else {
      const Node key = std::move(*open_.back().key);
      open_.back().key.reset();
      add_entry(open_.back().node, key, std::move(node));
    }
  }

  void add_entry(Node& mapping, const Node& key, Node value) {
    if (!key.is_scalar()) {
      problems_.add(key.place, fmt::format("a key must be a name, found {}", key.describe()), "E-DECK-SYNTAX");
    } else if (key.is_word("<<")) {
      problems_.add(key.place, "the merge key << is not supported; write the merged keys out", "E-DECK-SYNTAX");
    } else if (const Node* first = mapping.find(key.scalar)) {
      problems_.add(key.place,
                    fmt::format("{} is given twice; the first is at {}", path(key.scalar), first->key_place.text()),
                    "E-DECK-KEY");
    } else {
      value.key = key.scalar;
      value.key_place = key.place;
      mapping.children.push_back(std::move(value));
    }
  }

  void spend(std::size_t nodes, const Place& at) {
    nodes_ += nodes;
    if (nodes_ > limits::nodes)
      refuse(at,
             fmt::format("the file has more than {} keys and values here; this is the most that it may "
                         "have, each alias counting as all that it stands for",
                         limits::nodes),
             "E-DECK-LIMIT");
  }

  std::string path(std::string_view key) const {
    std::string result;
    for (const auto& open : open_) {
      if (open.key) result = join_path(result, shown(open.key->scalar));
      if (open.node.is_sequence()) result += fmt::format("[{}]", open.node.children.size());
    }
    return join_path(result, shown(key));
  }

  void refuse_tag(const YAML::Mark& mark, const std::string& tag) {
    if (!tag.empty() && tag != "?" && tag != "!")
      problems_.add(place(mark), fmt::format("the tag {} is not supported; write the plain value", shown(tag)),
                    "E-DECK-SYNTAX");
  }

  /// Whether a colon follows: the text before is then the next key, not this value.
  bool is_key(std::size_t position) const {
    const auto next = text_.find_first_not_of(" \t", position);
    return next != std::string::npos && text_[next] == ':';
  }

  const std::string& text_;
  const Place& source_;
  Problems& problems_;
  std::size_t nodes_ = 0;
  std::vector<Open> open_;
  std::map<YAML::anchor_t, Node> anchors_;
  Node root_;
};

/// The first line, from 1, that is indented by a tab; 0: none.
int line_with_tab(const std::string& text) {
  int line = 0;
  std::istringstream lines(text);
  for (std::string words; std::getline(lines, words);) {
    ++line;
    const auto indentation = words.substr(0, words.find_first_not_of(" \t"));
    if (indentation.find('\t') != std::string::npos) return line;
  }
  return 0;
}

} // namespace

Node parse_yaml(const std::string& text, const Place& source, Problems& problems) {
  Builder builder(text, source, problems);
  try {
    // At the end of a line yaml-cpp takes the end of the text for a missing closing quote.
    std::istringstream stream(text.substr(0, text.find_last_not_of(" \t\r\n") + 1));
    YAML::Parser parser(stream);
    parser.HandleNextDocument(builder);
    Node root = builder.take();
    if (parser.HandleNextDocument(builder))
      refuse(builder.take().place, "a second document starts here; a file is one YAML document", "E-DECK-SYNTAX");
    return root;
  } catch (const YAML::Exception& exception) {
    const int tab = source.order == 0 ? line_with_tab(text) : 0;
    refuse(builder.place(exception.mark),
           fmt::format("malformed YAML: {}{}", exception.msg,
                       tab > 0 ? fmt::format("; line {} is indented by a tab, and YAML takes spaces only", tab) : ""),
           "E-DECK-SYNTAX");
  }
}

} // namespace kontor::config
