// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "cg/names.hpp"

#include <kontor/comm/communicator.hpp>

/// Powers of two: products with them are exact, and squares of what they scale stay in range.
namespace kontor::cg {

/// Collective; waits. The largest in absolute value, over all ranks.
double largest_entry(const comm::Communicator&, const Space&, const Vector&);

/// The power of two that brings `size` into [1, 2); 1 if size is 0 or not finite.
double unit_of(double size);

/// Local; waits for nothing. to = factor from; the two may be one vector.
void scale(const Space&, const Vector& to, double factor, const Vector& from);

/// Collective; waits. Whatever the size of entries.
double norm(const comm::Communicator&, const Space&, const Vector&);

} // namespace kontor::cg
