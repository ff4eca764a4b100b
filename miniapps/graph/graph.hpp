// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "graph/options.hpp"
#include "run/mini_app.hpp"

#include <memory>

namespace kontor::graph {

/// Collective. Options are resolved.
std::unique_ptr<miniapp::MiniApp> make_graph(const Options&, const miniapp::RunContext&);

} // namespace kontor::graph
