// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// All collective operations.
#include <kontor/comm/broadcast.hpp>
#include <kontor/comm/gather.hpp>
#include <kontor/comm/reductions.hpp>
#include <kontor/comm/with_counts.hpp>
