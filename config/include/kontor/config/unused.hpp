// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/config/deck.hpp>

#include <string_view>
#include <vector>

namespace kontor::config {

/// Refuses keys that mean nothing beside others: a deck that gives them means something else than it gets. A key that
/// has its default value counts as not given, because the deck of a result has every key.
class UnusedKeys {
 public:
  /// `given` are an app's options as they were read: before anything is filled in. The deck outlives this.
  template <class Options>
  UnusedKeys(const Deck& deck, Options given)
      : deck_(deck), given_(settings([&](Visitor& v) { given.describe(v); })),
        defaults_(settings([fresh = Options()](Visitor& v) mutable { fresh.describe(v); })) {}

  /// Throws Error at the first key at or below `path` that is given, unless it is used; `needs` says what would use it:
  /// "problem.equation must be transient".
  void refuse_unless(bool used, std::string_view path, std::string_view needs) const;

 private:
  const Deck& deck_;
  std::vector<Setting> given_, defaults_; ///< of the same keys
};

} // namespace kontor::config
