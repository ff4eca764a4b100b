// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// Functions that kernels call, and tests on the host. KONTOR_IPC_EITHER stands before templates whose arguments have
/// functions of one of the two alone.
#if defined(__CUDACC__)
#define KONTOR_IPC_FUNCTION __host__ __device__ inline
#define KONTOR_IPC_EITHER _Pragma("nv_exec_check_disable")
#elif defined(__HIP__)
#define KONTOR_IPC_FUNCTION __host__ __device__ inline
#define KONTOR_IPC_EITHER
#else
#define KONTOR_IPC_FUNCTION inline
#define KONTOR_IPC_EITHER
#endif
