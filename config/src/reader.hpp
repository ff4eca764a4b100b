// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "tree.hpp"

#include <kontor/config/visitor.hpp>

#include <set>

namespace kontor::config {

/// Fills options from a deck's tree.
class Reader final : public Visitor {
 public:
  Reader(const Node& root, Problems& problems);

  /// Reports the keys that nothing asked for; call it after describe().
  void report_unknown();

 private:
  /// The section being read.
  struct Section {
    const Node* node = nullptr; ///< nullptr if the deck does not give it
    std::string path;
    Place place;                ///< of the nearest section that the deck gives
    bool report_missing = true; ///< false below a mistake that is reported already
    std::vector<std::string> known{};
  };
  struct Unknown {
    const Node* node;
    std::string section;
    std::vector<std::string> known;
  };

  void visit_section(const Key& key, const Body& body) override;
  void visit_leaf(const Key& key, Leaf& leaf) override;
  const Node* find(const Key& key);
  void collect_unknown();
  std::string advice(const Unknown& unknown) const;

  Problems& problems_;
  Section here_;
  std::vector<Unknown> unknown_;
  std::set<std::string> paths_; ///< all keys described
};

} // namespace kontor::config
