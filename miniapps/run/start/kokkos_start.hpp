// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <vector>

namespace kontor::miniapp {

/// Collective over MPI_COMM_WORLD. Initialises Kokkos with its own arguments (those of take_kokkos_arguments()) and,
/// where there are GPUs, with the rank's own. Throws config::Error on every rank if Kokkos throws on one of them or
/// does not know an argument, or if one has no GPU to use. Kokkos 4 aborts where earlier versions throw.
void start_kokkos(std::vector<char*> arguments);

} // namespace kontor::miniapp
