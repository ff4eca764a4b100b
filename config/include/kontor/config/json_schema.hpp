// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/config/visitor.hpp>

#include <nlohmann/json_fwd.hpp>

#include <functional>
#include <string_view>

namespace kontor::config {

/// The JSON Schema (draft 2020-12) of an app's decks: types, ranges, allowed words, defaults and help texts. Editors
/// complete and check decks with it. Defaults are what the described options hold now.
nlohmann::ordered_json json_schema(std::string_view app, const std::function<void(Visitor&)>& describe);

} // namespace kontor::config
