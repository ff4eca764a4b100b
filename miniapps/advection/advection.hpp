// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "advection/options.hpp"
#include "run/mini_app.hpp"

#include <memory>

namespace kontor::advection {

/// Collective. Options are resolved. Throws AgreedError if the problem does not fit into memory.
std::unique_ptr<miniapp::MiniApp> make_advection(const Options&, const miniapp::RunContext&);

} // namespace kontor::advection
