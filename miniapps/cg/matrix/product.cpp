// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cg/matrix/product.hpp"

#include "stepping/norm_parts.hpp"

namespace kontor::cg {

void add_parts(const Space& instance, double* parts, std::int64_t count, double* sum, int* zero) {
  // combine() counts places; here is one only, so the next one is always place 0.
  stepping::combine(instance, parts, count, stepping::Norm::l2, {sum, zero, 1});
}

} // namespace kontor::cg
