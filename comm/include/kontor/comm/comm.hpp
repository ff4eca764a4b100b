// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// The whole communication layer.
#include <kontor/comm/alltoall_grid.hpp>
#include <kontor/comm/collectives.hpp>
#include <kontor/comm/communicator.hpp>
#include <kontor/comm/exact_sum.hpp>
#include <kontor/comm/exchange.hpp>
#include <kontor/comm/faces.hpp>
#include <kontor/comm/neighbours.hpp>
#include <kontor/comm/point_to_point.hpp>
#include <kontor/comm/probe.hpp>
#include <kontor/comm/reduction.hpp>
#include <kontor/comm/registry.hpp>
#include <kontor/comm/request.hpp>
#include <kontor/comm/sparse_alltoall.hpp>
#include <kontor/comm/sparse_exchange.hpp>
#include <kontor/comm/view_of.hpp>
