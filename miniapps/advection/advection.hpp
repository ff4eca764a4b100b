// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "advection/options.hpp"
#include "run/mini_app.hpp"

#include <memory>

namespace kontor::advection {

/// Collective. u_t + a u_x = 0 on a periodic interval by the first-order upwind scheme, its cells divided among the
/// ranks. Options are resolved. Throws AgreedError if the problem does not fit into memory, config::Error if a value at
/// the start is not finite.
std::unique_ptr<miniapp::MiniApp> make_advection(const Options&, const miniapp::RunContext&);

} // namespace kontor::advection
