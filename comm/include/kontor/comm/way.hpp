// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/backend.hpp>
#include <kontor/comm/options.hpp>

#include <memory>
#include <string>
#include <vector>

namespace kontor::comm {

/// One choice on every axis, none of them `auto`, and the backend that carries it out.
struct Way {
  Options options;
  std::shared_ptr<Backend> backend;
};

/// "view, persistent, packing datatype"
std::string to_string(const Options&);

/// Collective. What the options leave open, as the ways that this build can go: every backend that moves data
/// where the backend is `auto`, every pattern, every packing. One way only where they leave nothing open.
/// Throws UsageError on every rank if there is none.
std::vector<Way> ways(const MpiHandle&);

} // namespace kontor::comm
