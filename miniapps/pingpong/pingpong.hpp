// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "pingpong/options.hpp"
#include "run/mini_app.hpp"

#include <memory>

namespace kontor::pingpong {

/// Collective over the context's communicator. What messages, halos and collective operations cost, each way of them,
/// on the machine at hand. Options are resolved. Throws config::Error if a size does not fit in memory.
std::unique_ptr<miniapp::MiniApp> make_pingpong(const Options&, const miniapp::RunContext&);

} // namespace kontor::pingpong
