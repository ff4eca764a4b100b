// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// All collective operations.
#include <kontor/comm/collectives/alltoall.hpp>
#include <kontor/comm/collectives/broadcast.hpp>
#include <kontor/comm/collectives/gather.hpp>
#include <kontor/comm/collectives/reductions.hpp>
#include <kontor/comm/collectives/scatter.hpp>
