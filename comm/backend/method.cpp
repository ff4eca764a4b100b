// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is left to `auto`, resolved to the methods that there are. Capabilities say what each backend can do; backends
// themselves are made last, and only those that Views of the given memory can use.
#include "backend/backend_set.hpp"
#include "backend/refusals.hpp"
#include "base/deadline.hpp"

#include <kontor/comm/backend/gpu_awareness.hpp>
#include <kontor/comm/backend/method.hpp>
#include <kontor/comm/error.hpp>
#include <kontor/comm/registry.hpp>

#include <algorithm>

namespace kontor::comm {
namespace {

/// A backend that makes the same calls as another one, or moves nothing, is a choice of the user's only.
std::vector<const BackendEntry*> backends_for(const Options& options) {
  if (options.backend != automatic_backend) return {&find_backend(options.backend)};
  std::vector<const BackendEntry*> entries;
  for (const auto& entry : backends())
    if (entry.make && entry.capabilities().moves_data) entries.push_back(&entry);
  const auto has = [all = entries](std::string_view name) {
    return std::ranges::any_of(all, [&](const auto* entry) { return entry->name == name; });
  };
  std::erase_if(entries, [&](const auto* entry) { return has(entry->capabilities().same_calls); });
  return entries;
}

std::vector<Pattern> patterns_for(const Options& options) {
  if (options.pattern != Pattern::automatic) return {options.pattern};
  return {usual_first.begin(), usual_first.end()};
}

std::vector<Packing> packings_for(const Options& options) {
  if (options.packing != Packing::automatic) return {options.packing};
  return {Packing::kernel, Packing::datatype};
}

std::vector<Path> paths_for(const Options& options, MemoryKind memory) {
  if (memory == MemoryKind::host) return {Path::automatic};
  if (options.path != Path::automatic) return {options.path};
  return {Path::staged, Path::direct}; // of equals the first is kept: direct must be the faster one
}

/// The methods that the options leave open, whatever the memory; `first` gets the first reason against others.
std::vector<Method> find_methods(const Options& options, std::optional<UsageError>& first) {
  std::vector<Method> result;
  for (const auto* entry : backends_for(options)) {
    const auto can = entry->capabilities();
    for (auto pattern : patterns_for(options)) {
      for (const auto packing : packings_for(options)) {
        if (const auto found = refusal(entry->name, can, pattern, packing)) {
          if (!first) first = found;
          continue;
        }
        auto chosen = options;
        if (pattern == Pattern::blocking && mpi::timeout(options) > 0) { // which it does not have
          if (options.pattern == Pattern::automatic) continue;
          pattern = Pattern::nonblocking;
        }
        chosen.backend = entry->name;
        chosen.pattern = pattern;
        chosen.packing = packing;
        result.push_back({chosen, can, nullptr});
      }
    }
  }
  return result;
}

} // namespace

std::vector<Method> methods(const Options& options) {
  std::optional<UsageError> first;
  auto result = find_methods(options, first);
  if (result.empty()) throw *first;
  return result;
}

std::optional<UsageError> refusal(const Options& options) {
  try {
    static_cast<void>(methods(options));
  } catch (const UsageError& error) {
    return error;
  }
  return std::nullopt;
}

std::vector<Method> methods(BackendSet& backends, std::span<const Method> all, MemoryKind memory) {
  const auto& options = backends.context().options;
  std::vector<Method> result;
  std::optional<UsageError> first; // reason against a method
  for (const auto path : paths_for(options, memory)) {
    for (auto method : all) {
      method.options.path = path;
      if (const auto found = refusal(method, memory)) {
        if (!first) first = found;
        continue;
      }
      try { // what only the machine tells, such as how many nodes there are
        method.backend = backends.get(method.options.backend);
        result.push_back(std::move(method));
      } catch (const UsageError& error) {
        if (!first) first = error;
      }
    }
  }
  const auto needs_awareness = [](const Method& method) {
    return method.options.path == Path::direct && method.can.hands_to_mpi();
  };
  if (std::ranges::any_of(result, needs_awareness)) {
    if (const auto found = probe_gpu_awareness(backends.context())) {
      if (!first) first = UsageError(*found, Axis::path);
      std::erase_if(result, needs_awareness);
    }
  }
  if (result.empty()) throw *first;
  return result;
}

} // namespace kontor::comm
