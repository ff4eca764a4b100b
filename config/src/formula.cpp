// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compile.hpp"
#include "leaf.hpp"
#include "names.hpp"

#include <kontor/config/text.hpp>

#include <algorithm>
#include <stdexcept>

namespace kontor::config {
namespace {

/// How a form is written in a deck.
std::string written(const Visitor::Form& form) {
  return form.takes_value ? fmt::format("{{{}: <expression>}}", form.name) : std::string(form.name);
}

} // namespace

std::string Formula::expected() const {
  return variables_.empty() ? "an expression without variables" : "an expression of " + listing(variables_, "and");
}

bool Formula::read(const Node& node, const std::string& path, Problems& problems) {
  if (!node.is_scalar()) return refuse(node, path, problems, "E-DECK-TYPE");
  if (const auto mistake = mistake_in(node.scalar, variables_))
    return refuse(node, path, problems, "E-DECK-EXPRESSION", ": " + *mistake);
  value_ = Expression(node.scalar);
  return true;
}

std::string TaggedFormula::expected() const {
  std::vector<std::string> all;
  for (const auto& form : forms_) all.push_back(written(form));
  return listing(all, "or");
}

bool TaggedFormula::read(const Node& node, const std::string& path, Problems& problems) {
  const bool with_value = node.is_mapping() && node.children.size() == 1;
  if (node.is_mapping() && !with_value) {
    const auto& first = node.children.empty() ? std::string() : node.children.front().scalar;
    return refuse(node, path, problems, "E-DECK-TYPE",
                  fmt::format(" of {} keys{}", node.children.size(),
                              std::ranges::count(first, '(') > std::ranges::count(first, ')')
                                  ? " (inside {...} a formula with a comma stands in quotes)"
                                  : ""));
  }
  if (!node.is_scalar() && !with_value) return refuse(node, path, problems, "E-DECK-TYPE");

  const auto& name = with_value ? node.children.front().key : node.scalar;
  const auto form = std::find_if(forms_.begin(), forms_.end(), [&](auto& f) { return f.name == name; });
  if (form == forms_.end()) {
    std::vector<std::string> names;
    for (const auto& known : forms_) names.emplace_back(known.name);
    const auto near = nearest(name, names);
    return refuse(node, path, problems, "E-DECK-WORD",
                  fmt::format("{}{}", with_value ? fmt::format(" with key {}", shown(name)) : "",
                              near ? fmt::format(" (did you mean {}?)", *near) : ""));
  }
  if (form->takes_value != with_value)
    return refuse(node, path, problems, "E-DECK-TYPE", fmt::format(" (write {})", written(*form)));

  Expression value;
  if (with_value && !Formula(value, variables_).read(node.children.front(), join_path(path, name), problems))
    return false;
  if (with_value) value_ = value;
  chosen_ = static_cast<std::size_t>(form - forms_.begin());
  return true;
}

Json TaggedFormula::json() const {
  if (chosen_ >= forms_.size()) throw std::logic_error("an option has none of its forms: " + expected());
  const std::string name(forms_[chosen_].name);
  return forms_[chosen_].takes_value ? Json{{name, value_.text()}} : Json(name);
}

Json TaggedFormula::schema() const {
  Json forms = Json::array();
  for (const auto& form : forms_) {
    const std::string name(form.name);
    if (!form.takes_value) {
      forms.push_back({{"const", name}});
      continue;
    }
    Expression any;
    forms.push_back({{"type", "object"},
                     {"properties", {{name, Formula(any, variables_).schema()}}},
                     {"required", Json::array({name})},
                     {"additionalProperties", false}});
  }
  return {{"anyOf", forms}};
}

} // namespace kontor::config
