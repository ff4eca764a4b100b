// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is left to `auto`, resolved to the methods that there are. Capabilities say what each backend can do;
// backends themselves are made last, and only those that Views of the given memory can use.
#include "backend_set.hpp"

#include <kontor/comm/detail/method.hpp>
#include <kontor/comm/error.hpp>
#include <kontor/comm/gpu_awareness.hpp>
#include <kontor/comm/registry.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>

namespace kontor::comm {
namespace {

constexpr std::array usual_first{Pattern::nonblocking, Pattern::persistent, Pattern::neighborhood,
                                 Pattern::blocking, Pattern::rma};
constexpr std::array every_packing{Packing::kernel, Packing::datatype, Packing::none};

/// "raw, view or shm"
std::string one_of(const std::vector<std::string>& names) {
  if (names.size() < 2) return names.empty() ? "" : names.front();
  return fmt::format("{} or {}", fmt::join(names.begin(), names.end() - 1, ", "), names.back());
}

/// The backends of this build that move data and of which this holds, after `before`; nothing if there is
/// none.
template <class Which>
std::string backends_that(const char* before, const Which& which) {
  std::vector<std::string> names;
  for (const auto& entry : backends()) {
    if (!entry.make) continue;
    const auto can = entry.capabilities();
    if (can.moves_data && which(can)) names.emplace_back(entry.name);
  }
  return names.empty() ? "" : before + one_of(names);
}

/// The first reason why there is none.
class Refusal {
 public:
  void operator()(const UsageError& error) {
    if (!first_) first_ = error;
  }
  const std::optional<UsageError>& first() const { return first_; }

 private:
  std::optional<UsageError> first_;
};

UsageError no_such_pattern(std::string_view backend, const Capabilities& can, Pattern pattern) {
  std::vector<std::string> names;
  for (const auto p : usual_first)
    if (can.patterns.has(p)) names.push_back(fmt::format("'{}'", to_string(p)));
  return UsageError(
      fmt::format("backend '{}' has no pattern '{}', only {}; choose pattern {}{}", backend,
                  to_string(pattern), fmt::join(names, ", "), one_of(names),
                  backends_that(", or backend ",
                                [&](const Capabilities& other) { return other.patterns.has(pattern); })),
      Axis::pattern);
}

UsageError no_such_packing(std::string_view backend, const Capabilities& can, Packing packing) {
  std::vector<std::string> names;
  for (const auto p : every_packing)
    if (can.packings.has(p)) names.push_back(fmt::format("'{}'", to_string(p)));
  names.emplace_back("'auto'");
  return UsageError(
      fmt::format("backend '{}' {}, so packing '{}' is not possible; choose packing {}{}", backend,
                  can.packings_because, to_string(packing), one_of(names),
                  backends_that(", or backend ",
                                [&](const Capabilities& other) { return other.packings.has(packing); })),
      Axis::packing);
}

/// Why a backend cannot do both, if it cannot.
std::optional<UsageError> refused(std::string_view backend, const Capabilities& can, Pattern pattern,
                                  Packing packing) {
  if (!can.packings.has(packing)) return no_such_packing(backend, can, packing);
  if (!can.patterns.has(pattern)) return no_such_pattern(backend, can, pattern);
  if (packing == Packing::datatype && can.own_memory.has(pattern))
    return UsageError(
        fmt::format("pattern '{}' puts messages into windows in one piece, so packing 'datatype' is not "
                    "possible; choose packing 'kernel' or 'auto', or another pattern",
                    to_string(pattern)),
        Axis::packing);
  return std::nullopt;
}

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

/// The methods that the options leave open, whatever the memory; `refusal` gets the reasons against others.
std::vector<Method> find_methods(const Options& options, Refusal& refusal) {
  std::vector<Method> result;
  for (const auto* entry : backends_for(options)) {
    const auto can = entry->capabilities();
    for (const auto pattern : patterns_for(options)) {
      for (const auto packing : packings_for(options)) {
        if (const auto problem = refused(entry->name, can, pattern, packing)) {
          refusal(*problem);
          continue;
        }
        auto chosen = options;
        chosen.backend = entry->name;
        chosen.pattern = pattern;
        chosen.packing = packing;
        result.push_back({std::move(chosen), can, nullptr});
      }
    }
  }
  return result;
}

/// The GPU libraries of this build.
std::string gpu_backends(const char* before) {
  return backends_that(before, [](const Capabilities& can) { return can.on_devices_only(); });
}
/// Those that keep a message with this pattern in the caller's memory, or in staging memory.
std::string mpi_backends(const char* before) {
  return backends_that(before, [](const Capabilities& can) {
    return can.hands_to_mpi() && !can.own_memory.has(Pattern::nonblocking);
  });
}

/// Why Views in this memory cannot go this way, if they cannot.
std::optional<UsageError> obstacle(const Method& method, MemoryKind memory) {
  const auto& [options, can, backend] = method;
  const auto& name = options.backend;
  if (memory == MemoryKind::host) {
    if (can.host_buffers) return {};
    return UsageError(
        fmt::format("backend '{}' takes Views in device memory only, and these lie in host memory{}", name,
                    backends_that("; for them choose backend ",
                                  [](const Capabilities& other) { return other.host_buffers; })),
        Axis::backend);
  }
  if (can.own_memory.has(options.pattern)) {
    const bool always = std::ranges::all_of(
        usual_first, [&](Pattern p) { return !can.patterns.has(p) || can.own_memory.has(p); });
    const auto what =
        always ? fmt::format("backend '{}'", name) : fmt::format("pattern '{}'", to_string(options.pattern));
    return UsageError(
        fmt::format("{} keeps messages in host memory of its own, which kernels on a device do not reach; "
                    "choose another pattern than 'rma'{}{}",
                    what, mpi_backends(" with backend "), gpu_backends(", or backend ")),
        always ? Axis::backend : Axis::pattern);
  }
  if (can.device_buffers && options.path == Path::direct) {
    if (!can.hands_to_mpi() || options.packing != Packing::datatype || !gpu_awareness().overruled) return {};
    return UsageError(
        "packing 'datatype' with path 'direct' has MPI pack device memory, and KONTOR_GPU_AWARE_MPI in the "
        "environment, not MPI, says that it takes that: such an MPI packs on the host; choose packing "
        "'kernel'",
        Axis::packing);
  }
  if (!can.host_buffers)
    return UsageError(
        fmt::format("backend '{}' hands device memory to a library of the GPU's, so path 'staged' is not "
                    "possible; choose path 'direct' or 'auto'{}",
                    name, mpi_backends(", or backend ")),
        Axis::path);
  if (options.path == Path::staged) {
    if (options.packing != Packing::datatype) return {};
    return UsageError(
        "path 'staged' packs Views into host memory, so packing 'datatype', which takes them as they lie, is "
        "not possible; choose packing 'kernel' or 'auto', or path 'direct'",
        Axis::path);
  }
  return UsageError(
      fmt::format("path 'direct' hands device memory to MPI, and {}; choose path 'staged'{}, or an MPI "
                  "library that is built for GPUs (docs/gpu.md)",
                  gpu_awareness().header, gpu_backends(", backend ")),
      Axis::path);
}

} // namespace

std::vector<Method> methods(const Options& options) {
  Refusal refusal;
  auto result = find_methods(options, refusal);
  if (result.empty()) throw *refusal.first();
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
  Refusal refusal;
  for (const auto path : paths_for(options, memory)) {
    for (auto method : all) {
      method.options.path = path;
      if (const auto problem = obstacle(method, memory)) {
        refusal(*problem);
        continue;
      }
      try { // what only the machine tells, such as how many nodes there are
        method.backend = backends.get(method.options.backend);
        result.push_back(std::move(method));
      } catch (const UsageError& error) {
        refusal(error);
      }
    }
  }
  const auto needs_awareness = [](const Method& method) {
    return method.options.path == Path::direct && method.can.hands_to_mpi();
  };
  if (std::ranges::any_of(result, needs_awareness)) {
    if (const auto problem = probe_gpu_awareness(backends.context())) {
      refusal(UsageError(*problem, Axis::path));
      std::erase_if(result, needs_awareness);
    }
  }
  if (result.empty()) throw *refusal.first();
  return result;
}

} // namespace kontor::comm
