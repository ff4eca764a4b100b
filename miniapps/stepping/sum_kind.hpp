// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "stepping/norm.hpp"

#include <kontor/config/visitor.hpp>

#include <array>

namespace kontor::stepping {

/// How sums over all ranks are made: in any order, which is fastest, or without an error but for one rounding
/// (comm::ExactSums), so that they have the same bits on any number of ranks.
enum class SumKind { any_order, reproducible };

/// The words of decks, and what they say.
inline constexpr std::array<config::Named<SumKind>, 2> sum_kind_names{
    {{"any_order", SumKind::any_order}, {"reproducible", SumKind::reproducible}}};

/// Whether the parts of a norm are accumulators (comm/exact/accumulator.hpp). A largest value does not depend on the
/// order in any case.
inline bool exactly_summed(Norm norm, SumKind sums) { return norm == Norm::l2 && sums == SumKind::reproducible; }

} // namespace kontor::stepping
