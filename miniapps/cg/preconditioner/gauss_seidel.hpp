// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

namespace kontor::cg {

/// Whether there is the preconditioner gauss_seidel: whether this was built with Kokkos Kernels.
bool has_gauss_seidel();

} // namespace kontor::cg
