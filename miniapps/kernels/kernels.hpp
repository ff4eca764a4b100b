// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "kernels/options.hpp"
#include "run/mini_app.hpp"

#include <memory>

namespace kontor::kernels {

/// Collective over the context's communicator. The rates of one measure's kernels on the machine at hand. Options are
/// resolved. Throws AgreedError if the largest size does not fit in memory.
std::unique_ptr<miniapp::MiniApp> make_kernels(const Options&, const miniapp::RunContext&);

} // namespace kontor::kernels
