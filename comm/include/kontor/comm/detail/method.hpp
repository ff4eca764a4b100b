// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/backend.hpp>
#include <kontor/comm/options.hpp>

#include <memory>
#include <span>
#include <string>
#include <vector>

namespace kontor::comm {

/// One choice on every axis, none of them `auto`, and the backend that carries it out.
struct Method {
  Options options;
  std::shared_ptr<Backend> backend;
};

/// "view, persistent, packing datatype"; for Views in device memory also ", path staged"
std::string to_string(const Options&);

/// Collective. What the options leave open, as the ways that this build can go: every backend that moves data
/// where the backend is `auto`, every pattern, every packing. One way only where they leave nothing open.
/// Paths are left open: the next function settles them. Throws UsageError on every rank if there is none.
std::vector<Method> methods(const BackendContext&);

/// Collective. Those of the ways that Views in this memory can go: for device memory with every path that the
/// options allow, `direct` to an MPI only if it is GPU-aware and has passed probe_gpu_awareness(). Throws
/// UsageError on every rank if there is none, with the reason.
std::vector<Method> methods(const BackendContext&, std::span<const Method>, MemoryKind);

} // namespace kontor::comm
