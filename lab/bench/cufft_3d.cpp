// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// cufft_3d N c2c|r2c double|float REPEATS STEPS: seconds of a transform of N^3 values forward and back by cuFFT's own
// three-dimensional plans on one GPU, in place, unscaled. A line a repeat: the mean of its steps.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>
#include <cufftXt.h>

int main(int argc, char** argv) {
  if (argc != 6) return 2;
  long long n = std::atol(argv[1]);
  const bool real = std::strcmp(argv[2], "r2c") == 0, single = std::strcmp(argv[3], "float") == 0;
  const int repeats = std::atoi(argv[4]), steps = std::atoi(argv[5]);
  const auto complex = single ? CUDA_C_32F : CUDA_C_64F;
  const auto values = !real ? complex : single ? CUDA_R_32F : CUDA_R_64F;
  long long extents[3] = {n, n, n};
  cufftHandle forward = 0, backward = 0;
  std::size_t bytes = 0;
  void* field = nullptr;
  cudaMalloc(&field, sizeof(double) * 2 * n * n * (real ? n / 2 + 1 : n));
  cudaMemset(field, 0, sizeof(double) * 2 * n * n * (real ? n / 2 + 1 : n));
  cufftCreate(&forward);
  cufftCreate(&backward);
  if (cufftXtMakePlanMany(forward, 3, extents, nullptr, 1, 0, values, nullptr, 1, 0, complex, 1, &bytes, complex) ||
      cufftXtMakePlanMany(backward, 3, extents, nullptr, 1, 0, complex, nullptr, 1, 0, values, 1, &bytes, complex))
    return 3;
  cudaEvent_t begin, end;
  cudaEventCreate(&begin);
  cudaEventCreate(&end);
  for (int repeat = -1; repeat < repeats; ++repeat) {
    cudaEventRecord(begin);
    for (int step = 0; step < steps; ++step) {
      if (cufftXtExec(forward, field, field, CUFFT_FORWARD)) return 4;
      if (cufftXtExec(backward, field, field, CUFFT_INVERSE)) return 4;
    }
    cudaEventRecord(end);
    cudaEventSynchronize(end);
    float ms = 0;
    cudaEventElapsedTime(&ms, begin, end);
    if (repeat >= 0) std::printf("%.6g\n", ms * 1e-3 / steps);
  }
}
