// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// The whole communication layer.
#include <kontor/comm/collectives.hpp>
#include <kontor/comm/communicator.hpp>
#include <kontor/comm/exchange.hpp>
#include <kontor/comm/nonblocking.hpp>
#include <kontor/comm/point_to_point.hpp>
#include <kontor/comm/registry.hpp>
