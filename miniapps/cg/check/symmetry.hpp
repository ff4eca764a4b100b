// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "cg/names.hpp"
#include "partition/partition.hpp"

#include <kontor/comm/communicator.hpp>

#include <functional>

namespace kontor::cg {

/// Collective. to = B from, for what compute() is given next. `from` has own values and ghosts, `to` own ones.
using Apply = std::function<void(const Vector& from, const Vector& to)>;

/// Collective. |x.B y - y.B x| beside |x| |B y| + |y| |B x|, for two vectors x and y that look random: rounding where B
/// is symmetric. Each row's numbers are the same on any ranks, and so is the result if that of B is. NaN if a number is
/// not finite. (The test of HPCG: M. A. Heroux, J. Dongarra, P. Luszczek, HPCG Technical Specification, Sandia report
/// SAND2013-8752, 2013.)
double asymmetry(const comm::Communicator&, const Partition&, const Space& compute, const Apply&);

/// The largest that passes: see docs/apps/cg.md.
inline constexpr double symmetry_tolerance = 1e-11;

} // namespace kontor::cg
