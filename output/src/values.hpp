// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <nlohmann/json.hpp>

namespace kontor::output {

using Json = nlohmann::ordered_json;

} // namespace kontor::output
