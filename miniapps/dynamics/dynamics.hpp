// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "dynamics/options.hpp"
#include "run/mini_app.hpp"

#include <memory>

namespace kontor::dynamics {

/// Collective. An elastic body of hexahedra, moved by central differences. Options are resolved. Throws AgreedError if
/// the problem does not fit into memory, config::Error if the mesh or a value of a formula is not allowed.
std::unique_ptr<miniapp::MiniApp> make_dynamics(const Options&, const miniapp::RunContext&);

} // namespace kontor::dynamics
