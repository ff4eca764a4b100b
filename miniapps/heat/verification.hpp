// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "common/result.hpp"
#include "heat/domain.hpp"

namespace kontor::heat {

/// Collective over the domain's communicator. Judges the current field: by the deck's exact solution, or,
/// where there is none, by what the field leaves of the discrete equation (README.md, "What passes").
/// Spoils the other field.
template <class T>
miniapp::Verification verify(Domain<T>&);

} // namespace kontor::heat
