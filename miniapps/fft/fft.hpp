// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "fft/options.hpp"
#include "run/mini_app.hpp"

#include <memory>

namespace kontor::fft {

/// Collective. Options are resolved. Throws AgreedError if the arrays do not fit into memory.
std::unique_ptr<miniapp::MiniApp> make_fft(const Options&, const miniapp::RunContext&);

} // namespace kontor::fft
