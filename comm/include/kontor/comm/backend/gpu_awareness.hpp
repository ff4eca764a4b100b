// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <optional>
#include <string>

/// Whether MPI takes pointers to device memory: what it says, and what it does.
namespace kontor::comm {

struct BackendContext;

/// What MPI says.
struct GpuAwareness {
  bool aware = false;     ///< it takes device memory
  std::string header;     ///< a clause: "MPIX_Query_cuda_support() says that it does not take it"
  bool overruled = false; ///< the environment says so, not MPI, which then knows of no devices itself
};

/// Local. Asks Open MPI (MPIX_Query_cuda_support, MPIX_Query_rocm_support), MPICH (MPIX_GPU_query_support) or Cray's
/// MPICH (MPICH_GPU_SUPPORT_ENABLED in the environment). KONTOR_GPU_AWARE_MPI=1 or =0 in the environment overrules the
/// answer: an MPI that does not know that the transport below it is GPU-aware, such as Open MPI over a UCX with CUDA,
/// says no.
GpuAwareness gpu_awareness();

/// Collective. Sends device memory around the ring of all ranks by MPI_Sendrecv, a short message and a long one, and
/// compares what arrives. Nothing if it is right on all ranks, or if no kernels run on a device; else what went wrong,
/// equal on all ranks. An MPI that is not aware may end the program here, so ask first.
std::optional<std::string> probe_gpu_awareness(const BackendContext&);

} // namespace kontor::comm
