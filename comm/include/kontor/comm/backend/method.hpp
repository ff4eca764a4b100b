// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/backend/backend.hpp>
#include <kontor/comm/options.hpp>

#include <memory>
#include <span>
#include <string>
#include <vector>

namespace kontor::comm {

class BackendSet;

/// One choice on every axis, none of them `auto`, and the backend that carries it out.
struct Method {
  Options options;
  Capabilities can;                 ///< of the backend
  std::shared_ptr<Backend> backend; ///< null until the memory of the Views is known
};

/// Local. What the options leave open, as the methods that this build has: every backend that moves data where the
/// backend is `auto`, every pattern, every packing. One only where they leave nothing open. Paths are left open: the
/// next function resolves them. Throws UsageError if there is none.
std::vector<Method> methods(const Options&);

/// Collective. Those of the methods that Views in this memory can use, with their backends: for device memory with
/// every path that the options allow, `direct` to an MPI only if it is GPU-aware and has passed probe_gpu_awareness().
/// Throws UsageError on every rank if there is none, with the reason.
std::vector<Method> methods(BackendSet&, std::span<const Method>, MemoryKind);

} // namespace kontor::comm
