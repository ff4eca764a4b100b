// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <kontor/comm/options.hpp>
#include <kontor/comm/registry.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace kontor::comm {
namespace {

std::string built(std::span<const BackendEntry> entries) {
  std::string names;
  for (const auto& entry : entries)
    if (entry.make) names += fmt::format("{}, ", entry.name);
  return names + automatic_backend;
}

} // namespace

const BackendEntry& find_backend(std::string_view name, std::span<const BackendEntry> entries) {
  const auto found =
      std::find_if(entries.begin(), entries.end(), [&](const auto& entry) { return entry.name == name; });
  if (found == entries.end())
    throw UsageError(fmt::format("backend '{}' is unknown; this build has: {}", name, built(entries)), Axis::backend);
  if (!found->make)
    throw UsageError(fmt::format("backend '{}' is not in this build, which has: {}; to get it, {}", name,
                                 built(entries), found->enable),
                     Axis::backend);
  return *found;
}

} // namespace kontor::comm
