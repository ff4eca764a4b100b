// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <vector>

namespace kontor::miniapp {

/// Collective over MPI_COMM_WORLD. Initialises Kokkos with its own arguments (those of take_kokkos_arguments()); Kokkos
/// gives a rank the GPU with its number on the node. Throws config::Error on every rank if one has no GPU to use, and
/// on this one if Kokkos throws or does not know an argument. Kokkos 4 aborts where earlier versions throw.
void start_kokkos(std::vector<char*> arguments);

} // namespace kontor::miniapp
