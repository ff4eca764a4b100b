// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "reader.hpp"

#include "leaf.hpp"
#include "names.hpp"

#include <kontor/config/text.hpp>

#include <stdexcept>

namespace kontor::config {

Reader::Reader(const Node& root, Problems& problems) : problems_(problems) {
  here_.node = &root;
  here_.place = root.key_place;
  here_.known = {"app"};
}

/// The key's node; notes that the key is known.
const Node* Reader::find(const Key& key) {
  const auto path = join_path(here_.path, key.name);
  if (!paths_.insert(path).second) throw std::logic_error("the key " + path + " is described twice");
  here_.known.emplace_back(key.name);
  return here_.node ? here_.node->find(key.name) : nullptr;
}

void Reader::visit_leaf(const Key& key, Leaf& leaf) {
  const auto path = join_path(here_.path, key.name);
  const Node* node = find(key);
  if (node) {
    leaf.read(*node, path, problems_);
  } else if (key.required && here_.report_missing) {
    problems_.add(here_.place, fmt::format("{} is missing; it expects {}", path, leaf.expected()), "E-DECK-KEY");
  }
  leaf.set_location({(node ? node->where() : here_.place).text(), path});
}

void Reader::visit_section(const Key& key, const Body& body) {
  const Node* node = find(key);
  Section inner{.path = join_path(here_.path, key.name), .place = here_.place, .report_missing = here_.report_missing};
  if (node && node->is_mapping()) {
    inner.node = node;
    inner.place = node->where();
  } else if (node) {
    problems_.add(node->where(), fmt::format("{}: found {}; allowed: a section", inner.path, node->describe()),
                  "E-DECK-TYPE");
    inner.report_missing = false;
  } else if (key.required && here_.report_missing) {
    problems_.add(here_.place, fmt::format("{} is missing; it expects a section", inner.path), "E-DECK-KEY");
    inner.report_missing = false;
  }
  std::swap(here_, inner);
  body(*this);
  collect_unknown();
  std::swap(here_, inner);
}

void Reader::collect_unknown() {
  if (!here_.node) return;
  for (const auto& child : here_.node->children) {
    const auto& known = here_.known;
    if (std::find(known.begin(), known.end(), child.key) == known.end())
      unknown_.push_back({&child, here_.path, known});
  }
}

void Reader::report_unknown() {
  collect_unknown();
  for (const auto& unknown : unknown_)
    problems_.add(
        unknown.node->key_place,
        fmt::format("{} is unknown; {}", join_path(unknown.section, shown(unknown.node->key)), advice(unknown)),
        "E-DECK-KEY");
}

/// A key of the same section with a similar name, else one of this name elsewhere, else what there is.
std::string Reader::advice(const Unknown& unknown) const {
  const auto& key = unknown.node->key;
  if (const auto near = nearest(key, unknown.known))
    return fmt::format("did you mean {}?", join_path(unknown.section, *near));
  for (const auto& path : paths_)
    if (path.ends_with("." + key)) return fmt::format("did you mean {}?", path);
  if (paths_.contains(key))
    return unknown.section.empty() ? "keys are nested, not joined by dots" : fmt::format("did you mean {}?", key);
  return fmt::format("known here: {}", fmt::join(unknown.known, ", "));
}

} // namespace kontor::config
