// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One block a reduction: no block waits for another one of its kernel, and kernels that wait leave room for those that
// they wait for.
#include "backend/ipc/reduce_kernel.hpp"

#if defined(__HIP__)
#define KONTOR_GRID_CONSTANT
#else
#define KONTOR_GRID_CONSTANT __grid_constant__
#endif

namespace kontor::comm::ipc {
namespace {

constexpr std::uint32_t warp = 32;
constexpr std::uint32_t most_threads = 512;

template <class T>
__global__ void __launch_bounds__(most_threads)
    reduce_kernel(const KONTOR_GRID_CONSTANT DeviceReduction plan, const T* in, T* out, std::uint32_t count,
                  ReduceOp op) {
  if (plan.state->timed_out != 0) return;
  const Counter step = plan.state->step + 1;
  const MailboxMemory memory(plan.wait());
  send_numbers(plan.mailboxes, step, in, count, threadIdx.x, blockDim.x, memory);
  const int late = combine_numbers(plan.mailboxes, step, in, out, count, op, threadIdx.x, blockDim.x, memory);
  if (late >= 0) plan.wait().give_up(late);
  const bool all = __syncthreads_and(late < 0) != 0;
  if (threadIdx.x != 0) return;
  if (all)
    plan.state->step = step;
  else
    plan.state->timed_out = 1;
}

template <class T>
cudaError_t launch(const DeviceReduction& plan, const NumberReduction& reduction, const void* in, void* out,
                   cudaStream_t stream) {
  auto count = static_cast<std::uint32_t>(reduction.count);
  const auto wanted = (chunks<T>(count) + warp - 1) / warp * warp;
  auto op = reduction.op;
  void* arguments[] = {const_cast<DeviceReduction*>(&plan), &in, &out, &count, &op};
  return cudaLaunchKernel(reinterpret_cast<const void*>(reduce_kernel<T>), dim3(1),
                          dim3(wanted < most_threads ? wanted : most_threads), arguments, 0, stream);
}

} // namespace

cudaError_t launch_reduce(const DeviceReduction& plan, const NumberReduction& reduction, const void* in,
                          void* out, cudaStream_t stream) {
  if (reduction.count == 0) return cudaSuccess;
  switch (reduction.type) {
  case NumberType::int8: return launch<std::int8_t>(plan, reduction, in, out, stream);
  case NumberType::uint8: return launch<std::uint8_t>(plan, reduction, in, out, stream);
  case NumberType::int16: return launch<std::int16_t>(plan, reduction, in, out, stream);
  case NumberType::uint16: return launch<std::uint16_t>(plan, reduction, in, out, stream);
  case NumberType::int32: return launch<std::int32_t>(plan, reduction, in, out, stream);
  case NumberType::uint32: return launch<std::uint32_t>(plan, reduction, in, out, stream);
  case NumberType::int64: return launch<std::int64_t>(plan, reduction, in, out, stream);
  case NumberType::uint64: return launch<std::uint64_t>(plan, reduction, in, out, stream);
  case NumberType::float32: return launch<float>(plan, reduction, in, out, stream);
  case NumberType::float64: return launch<double>(plan, reduction, in, out, stream);
  }
  return cudaErrorInvalidValue;
}

} // namespace kontor::comm::ipc
