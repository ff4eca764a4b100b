// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "partition/vector.hpp"

namespace kontor::stepping {}

/// cg uses the names of the libraries that it is made of as its own.
namespace kontor::cg {

using namespace partition;
using namespace stepping;

} // namespace kontor::cg
