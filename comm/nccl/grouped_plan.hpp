// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "nccl/clique.hpp"

#include <kontor/comm/backend.hpp>

#include <memory>

namespace kontor::comm::nccl {

/// Collective over the ranks of the clique. The schedule's stream must outlive the plan.
std::unique_ptr<Plan> make_plan(std::shared_ptr<Clique>, const Schedule&);

} // namespace kontor::comm::nccl
