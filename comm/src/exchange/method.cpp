// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support/backend_context.hpp"

#include <kontor/comm/backend/mpi_check.hpp>
#include <kontor/comm/detail/method.hpp>
#include <kontor/comm/error.hpp>
#include <kontor/comm/gpu_awareness.hpp>
#include <kontor/comm/registry.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace kontor::comm {
namespace {

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

std::vector<Path> paths_for(const Options& options, MemoryKind memory) {
  if (memory == MemoryKind::host) return {Path::automatic};
  if (options.path != Path::automatic) return {options.path};
  return {Path::staged, Path::direct}; // of equals the first is kept: direct must be the faster one
}

/// The first reason why there is none.
class Refusal {
 public:
  void operator()(const UsageError& error) {
    if (!first_) first_ = error;
  }
  [[noreturn]] void raise() const { throw first_.value(); }

 private:
  std::optional<UsageError> first_;
};

/// The names of the backends in this build that hand device memory to a GPU library, after `before`.
std::string gpu_backends(const char* before) {
  std::string names;
  for (const auto& entry : backends())
    if (entry.make && (entry.name == "nccl" || entry.name == "ipc"))
      names += fmt::format("{}'{}'", names.empty() ? before : " or ", entry.name);
  return names;
}

/// Why Views in this memory cannot go this way, if they cannot.
std::optional<std::string> obstacle(const Method& method, MemoryKind memory, int rank) {
  const auto& name = method.options.backend;
  const auto can = method.backend->capabilities();
  if (memory == MemoryKind::host) {
    if (can.host_buffers) return {};
    return fmt::format("backend '{}' takes Views in device memory only, and these lie in host memory; choose "
                       "backend raw, view or shm for them",
                       name);
  }
  const auto own = method.backend->own_memory(rank);
  if (can.moves_data && (own.sends || own.receives))
    return fmt::format("{} keeps messages in host memory of its own, which kernels on a device do not reach; "
                       "choose backend raw or view with another pattern than 'rma'{}",
                       method.options.pattern == Pattern::rma ? "pattern 'rma'" : "backend '" + name + "'",
                       gpu_backends(", or backend "));
  if (can.device_buffers && method.options.path == Path::direct) {
    const bool to_mpi = can.host_buffers && can.moves_data;
    if (!to_mpi || method.options.packing != Packing::datatype || !gpu_awareness().overruled) return {};
    return "packing 'datatype' with path 'direct' has MPI pack device memory, and KONTOR_GPU_AWARE_MPI in "
           "the environment, not MPI, says that it takes that: such an MPI packs on the host; choose packing "
           "'kernel'";
  }
  if (!can.host_buffers)
    return fmt::format("backend '{}' hands device memory to a library of the GPU's, so path 'staged' is not "
                       "possible; choose path 'direct' or 'auto', or backend raw or view",
                       name);
  if (method.options.path == Path::staged) {
    if (method.options.packing != Packing::datatype) return {};
    return "path 'staged' packs Views into host memory, so packing 'datatype', which takes them as they lie, "
           "is not possible; choose packing 'kernel' or 'auto', or path 'direct'";
  }
  return fmt::format("path 'direct' hands device memory to MPI, and {}; choose path 'staged'{}, or an MPI "
                     "library that is built for GPUs (docs/gpu.md)",
                     gpu_awareness().header, gpu_backends(", backend "));
}

} // namespace

std::vector<Method> methods(const BackendContext& context) {
  std::vector<Method> result;
  Refusal refused;
  for (const auto& backend : backends_for(context.options)) {
    for (const auto pattern : patterns_for(context.options)) {
      for (const auto packing : packings_for(context.options)) {
        auto choice = context;
        choice.options.backend = backend;
        choice.options.pattern = pattern;
        choice.options.packing = packing;
        try {
          std::shared_ptr<Backend> made = find_backend(backend).make(choice);
          const bool candidate = made->capabilities().moves_data || context.options.backend == backend;
          if (candidate) result.push_back({choice.options, std::move(made)});
        } catch (const UsageError& error) {
          refused(error);
        }
      }
    }
  }
  if (result.empty()) refused.raise();
  return result;
}

std::vector<Method> methods(const BackendContext& context, std::span<const Method> all, MemoryKind memory) {
  int rank = 0;
  mpi::check(MPI_Comm_rank(context.comm, &rank), "MPI_Comm_rank");
  std::vector<Method> result;
  Refusal refused;
  for (const auto path : paths_for(context.options, memory)) {
    for (auto method : all) {
      method.options.path = path;
      if (const auto problem = obstacle(method, memory, rank))
        refused(UsageError(*problem));
      else
        result.push_back(std::move(method));
    }
  }
  const auto hands_to_mpi = [](const Method& method) {
    const auto can = method.backend->capabilities();
    return method.options.path == Path::direct && can.host_buffers && can.moves_data;
  };
  if (std::any_of(result.begin(), result.end(), hands_to_mpi)) {
    if (const auto problem = probe_gpu_awareness(context)) {
      refused(UsageError(*problem));
      std::erase_if(result, hands_to_mpi);
    }
  }
  if (result.empty()) refused.raise();
  return result;
}

} // namespace kontor::comm
