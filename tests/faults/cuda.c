/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Functions of CUDA's runtime that give memory, or something that takes memory, and have none: they are not
 * called. Only in programs that have the runtime as a shared library, as Kokkos' CMake targets do. */
#define _GNU_SOURCE
#include "arm.h"

#include <cuda_runtime_api.h>
#include <dlfcn.h>

/* clang-format off */
#define FUNCTION(name, parameters, arguments)                                                     \
  cudaError_t CUDARTAPI name parameters {                                                         \
    static cudaError_t(CUDARTAPI * original) parameters;                                          \
    if (kontor_fault_at(#name, __builtin_return_address(0)) == FAULT_ERROR)                       \
      return cudaErrorMemoryAllocation;                                                           \
    if (!original) original = dlsym(RTLD_NEXT, #name);                                            \
    return original ? original arguments : cudaErrorUnknown;                                      \
  }

FUNCTION(cudaMalloc, (void** p, size_t n), (p, n))
FUNCTION(cudaMallocAsync, (void** p, size_t n, cudaStream_t s), (p, n, s))
FUNCTION(cudaMallocManaged, (void** p, size_t n, unsigned f), (p, n, f))
FUNCTION(cudaMallocHost, (void** p, size_t n), (p, n))
FUNCTION(cudaHostAlloc, (void** p, size_t n, unsigned f), (p, n, f))
FUNCTION(cudaHostRegister, (void* p, size_t n, unsigned f), (p, n, f))
FUNCTION(cudaIpcGetMemHandle, (cudaIpcMemHandle_t* h, void* p), (h, p))
FUNCTION(cudaIpcOpenMemHandle, (void** p, cudaIpcMemHandle_t h, unsigned f), (p, h, f))
FUNCTION(cudaStreamCreate, (cudaStream_t* s), (s))
FUNCTION(cudaStreamCreateWithFlags, (cudaStream_t* s, unsigned f), (s, f))
FUNCTION(cudaStreamCreateWithPriority, (cudaStream_t* s, unsigned f, int p), (s, f, p))
FUNCTION(cudaEventCreate, (cudaEvent_t* e), (e))
FUNCTION(cudaEventCreateWithFlags, (cudaEvent_t* e, unsigned f), (e, f))
FUNCTION(cudaGraphInstantiate, (cudaGraphExec_t* e, cudaGraph_t g, unsigned long long f), (e, g, f))
FUNCTION(cudaGraphInstantiateWithFlags, (cudaGraphExec_t* e, cudaGraph_t g, unsigned long long f), (e, g, f))
