// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "graph/options.hpp"
#include "run/mini_app.hpp"

#include <memory>

namespace kontor::graph {

/// Collective. What graph is, by its algorithm.
std::unique_ptr<miniapp::MiniApp> make_search(const Options&, const miniapp::RunContext&);
std::unique_ptr<miniapp::MiniApp> make_particles(const Options&, const miniapp::RunContext&);
std::unique_ptr<miniapp::MiniApp> make_sort(const Options&, const miniapp::RunContext&);

/// Collective. Throws comm::AgreedError if what a rank takes does not fit, all of it in host memory.
void require_host_memory(const comm::Communicator&, const Options&);

} // namespace kontor::graph
