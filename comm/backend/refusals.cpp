// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backend/refusals.hpp"

#include <kontor/comm/backend/gpu_awareness.hpp>
#include <kontor/comm/registry.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace kontor::comm {
namespace {

constexpr std::array every_packing{Packing::kernel, Packing::datatype, Packing::none};

/// "raw, view or shm"
std::string one_of(const std::vector<std::string>& names) {
  if (names.size() < 2) return names.empty() ? "" : names.front();
  return fmt::format("{} or {}", fmt::join(names.begin(), names.end() - 1, ", "), names.back());
}

/// The backends of this build that move data and of which this holds, after `before`; nothing if there is none.
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

/// The names of those of the values that the backend has, each in quotes.
template <class Values, class Enum>
std::vector<std::string> names_of(const Values& values, const Subset<Enum>& which) {
  std::vector<std::string> names;
  for (const auto value : values)
    if (which.has(value)) names.push_back(fmt::format("'{}'", to_string(value)));
  return names;
}

UsageError no_such_pattern(std::string_view backend, const Capabilities& can, Pattern pattern) {
  const auto names = names_of(usual_first, can.patterns);
  return UsageError(fmt::format("backend '{}' has no pattern '{}', only {}; choose pattern {}{}", backend,
                                to_string(pattern), fmt::join(names, ", "), one_of(names),
                                backends_that(", or backend ",
                                              [&](const Capabilities& other) { return other.patterns.has(pattern); })),
                    Axis::pattern);
}

UsageError no_such_packing(std::string_view backend, const Capabilities& can, Packing packing) {
  auto names = names_of(every_packing, can.packings);
  names.emplace_back("'auto'");
  return UsageError(fmt::format("backend '{}' {}, so packing '{}' is not possible; choose packing {}{}", backend,
                                can.packings_because, to_string(packing), one_of(names),
                                backends_that(", or backend ",
                                              [&](const Capabilities& other) { return other.packings.has(packing); })),
                    Axis::packing);
}

/// The GPU libraries of this build.
std::string gpu_backends(const char* before) {
  return backends_that(before, [](const Capabilities& can) { return can.on_devices_only(); });
}
/// Those that keep a message with this pattern in the caller's memory, or in staging memory.
std::string mpi_backends(const char* before) {
  return backends_that(
      before, [](const Capabilities& can) { return can.hands_to_mpi() && !can.own_memory.has(Pattern::nonblocking); });
}

} // namespace

std::optional<UsageError> refusal(std::string_view backend, const Capabilities& can, Pattern pattern, Packing packing) {
  if (!can.packings.has(packing)) return no_such_packing(backend, can, packing);
  if (!can.patterns.has(pattern)) return no_such_pattern(backend, can, pattern);
  if (packing == Packing::datatype && can.own_memory.has(pattern))
    return UsageError(fmt::format("pattern '{}' puts messages into windows in one piece, so packing 'datatype' is not "
                                  "possible; choose packing 'kernel' or 'auto', or another pattern",
                                  to_string(pattern)),
                      Axis::packing);
  return std::nullopt;
}

std::optional<UsageError> refusal(const Method& method, MemoryKind memory) {
  const auto& options = method.options;
  const auto& can = method.can;
  const auto& name = options.backend;
  if (memory == MemoryKind::host) {
    if (can.host_buffers) return {};
    return UsageError(fmt::format("backend '{}' takes Views in device memory only, and these lie in host memory{}",
                                  name,
                                  backends_that("; for them choose backend ",
                                                [](const Capabilities& other) { return other.host_buffers; })),
                      Axis::backend);
  }
  if (can.own_memory.has(options.pattern)) {
    const bool always =
        std::ranges::all_of(usual_first, [&](Pattern p) { return !can.patterns.has(p) || can.own_memory.has(p); });
    const auto what =
        always ? fmt::format("backend '{}'", name) : fmt::format("pattern '{}'", to_string(options.pattern));
    const auto advice =
        always ? mpi_backends("backend ")
               : fmt::format("another pattern than '{}'{}", to_string(options.pattern), mpi_backends(" with backend "));
    return UsageError(fmt::format("{} keeps messages in host memory of its own, which kernels on a device do not "
                                  "reach; choose {}{}",
                                  what, advice, gpu_backends(", or backend ")),
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
    return UsageError(fmt::format("backend '{}' hands device memory to a library of the GPU's, so path 'staged' is not "
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
  return UsageError(fmt::format("path 'direct' hands device memory to MPI, and {}; choose path 'staged'{}, or an MPI "
                                "library that is built for GPUs (docs/gpu.md)",
                                gpu_awareness().header, gpu_backends(", backend ")),
                    Axis::path);
}

} // namespace kontor::comm
