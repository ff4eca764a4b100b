// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/communicator.hpp>
#include <kontor/mpi/world.hpp>

/// Every method by which this build can exchange Views.
namespace kontor::comm::test {

using kontor::mpi::world_rank;
using kontor::mpi::world_size;

/// Whether all Views of a test travel in one piece.
enum class Contiguity { no, yes };

/// Every backend of this build that moves data, with every pattern and packing that it has; packing `auto` for one.
std::vector<Options> methods(Contiguity = Contiguity::no);

/// Collective over MPI_COMM_WORLD. The same for Views in device memory, with every path; a method that the machine does
/// not have, such as `nccl` where ranks share a GPU, is left out. Empty if no kernels run on a device.
std::vector<Options> device_methods(Contiguity = Contiguity::no);

/// Collective over MPI_COMM_WORLD. A communicator of all ranks that uses this method, the same one for all tests until
/// Kokkos ends: some libraries take a second to make theirs.
const Communicator& cached_communicator(const Options&);

/// The choice of a single method.
Options method(std::string backend, Packing packing = Packing::kernel, Pattern pattern = Pattern::nonblocking);

/// The previous and the next rank; no_rank beyond the ends unless periodic.
std::pair<int, int> ring_of(const Communicator&, bool periodic = true);

/// Collective. Checks that messages still arrive: that an error has left the communicator as it was.
void expect_usable(const Communicator&);

} // namespace kontor::comm::test
