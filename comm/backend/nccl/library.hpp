// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "backend/gpu_runtime.hpp"

/// NVIDIA's NCCL, or AMD's RCCL, which has the same names.
#if defined(__HIP__)
#include <rccl/rccl.h>
#else
#include <nccl.h>
#endif
