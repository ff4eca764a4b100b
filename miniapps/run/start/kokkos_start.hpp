// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <vector>

namespace kontor::miniapp {

/// Collective over MPI_COMM_WORLD. Initialises Kokkos with its own arguments (those of take_kokkos_arguments()) and,
/// where there are GPUs, with the rank's own. False on every rank, told once, if an argument or a variable KOKKOS_* is
/// wrong on one of them, or if one has no GPU to use; Kokkos would end such a rank by SIGABRT.
bool start_kokkos(std::vector<char*> arguments);

} // namespace kontor::miniapp
