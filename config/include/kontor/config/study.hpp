// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <vector>

namespace kontor::config {

/// A study as `kontor study` takes it: `values` by key, with every default; `places` of the keys of decks, such as
/// "vary.comm.backend"; `text`, the same study as YAML. Arguments as of Deck::parse(). Throws Error with all mistakes
/// that can be found without the decks.
nlohmann::ordered_json read_study(std::string text, std::string file, const std::vector<std::string>& overrides);

/// The JSON Schema of studies.
nlohmann::ordered_json study_schema();

} // namespace kontor::config
