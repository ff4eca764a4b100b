// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <nlohmann/json.hpp>

#include <algorithm>
#include <string>

namespace kontor::miniapp::test {

/// Whether a record has a trial of launches in which that kind was tried.
inline bool was_tried(const nlohmann::ordered_json& record, const std::string& kind) {
  const auto trial = record.value("launch_trial", nlohmann::ordered_json::array());
  return std::ranges::any_of(trial, [&](const auto& row) { return row["candidate"] == kind && row["refusal"] == ""; });
}

} // namespace kontor::miniapp::test
