// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mpi/handle.hpp"

#include <kontor/comm/error.hpp>
#include <kontor/comm/registry.hpp>
#include <kontor/comm/way.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace kontor::comm {
namespace {

constexpr const char* pattern_names[] = {"blocking",     "nonblocking", "persistent",
                                         "neighborhood", "rma",         "auto"};
constexpr const char* packing_names[] = {"auto", "kernel", "datatype", "none"};

/// `raw` makes the calls that `view` makes with packing `kernel`, so it is a candidate only where `view` is
/// not in the build.
std::vector<std::string> backends_for(const Options& options) {
  if (options.backend != automatic_backend) return {options.backend};
  std::vector<std::string> names;
  for (const auto& entry : backends())
    if (entry.make) names.emplace_back(entry.name);
  const auto has = [&](const char* name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  if (has("view")) std::erase(names, "raw");
  return names;
}

std::vector<Pattern> patterns_for(const Options& options) {
  if (options.pattern != Pattern::automatic) return {options.pattern};
  return {Pattern::nonblocking, Pattern::persistent, Pattern::neighborhood, Pattern::blocking, Pattern::rma};
}

std::vector<Packing> packings_for(const Options& options) {
  if (options.packing != Packing::automatic) return {options.packing};
  return {Packing::kernel, Packing::datatype};
}

} // namespace

std::string to_string(const Options& options) {
  return fmt::format("{}, {}, packing {}", options.backend, pattern_names[static_cast<int>(options.pattern)],
                     packing_names[static_cast<int>(options.packing)]);
}

std::vector<Way> ways(const MpiHandle& handle) {
  std::vector<Way> result;
  std::optional<UsageError> refused;
  for (const auto& backend : backends_for(handle.options)) {
    for (const auto pattern : patterns_for(handle.options)) {
      for (const auto packing : packings_for(handle.options)) {
        auto choice = handle;
        choice.options.backend = backend;
        choice.options.pattern = pattern;
        choice.options.packing = packing;
        try {
          std::shared_ptr<Backend> made = find_backend(backend).make(choice);
          const bool candidate = made->capabilities().moves_data || handle.options.backend == backend;
          if (candidate) result.push_back({choice.options, std::move(made)});
        } catch (const UsageError& error) {
          if (!refused) refused = error;
        }
      }
    }
  }
  if (result.empty()) throw refused.value();
  return result;
}

} // namespace kontor::comm
