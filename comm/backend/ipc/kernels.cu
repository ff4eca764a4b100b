// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// No block waits for another one of its kernel, and kernels of many blocks wait for nobody: if they did, those of
// several exchanges could fill a device and keep out the one that their peers wait for. Ranks that start and finish
// their exchanges in the same order therefore always come to an end.
#include "backend/ipc/kernels.hpp"

namespace kontor::comm::ipc {
namespace {

constexpr int waiting_threads = 64; ///< of a kernel that only waits

__device__ bool timed_out(const DevicePlan& plan) {
  return *const_cast<const volatile unsigned*>(&plan.state->timed_out) != 0;
}

/// By all threads of a block. Whether all the counters have come to the step.
__device__ bool wait(const DevicePlan& plan, Counter* counters, int count, int first_message, Counter step) {
  bool all = !timed_out(plan);
  for (int i = static_cast<int>(threadIdx.x); all && i < count; i += static_cast<int>(blockDim.x)) {
    all = plan.wait().until(counters[i], step, first_message + i);
    if (!all) *const_cast<volatile unsigned*>(&plan.state->timed_out) = 1;
  }
  return __syncthreads_and(all) != 0;
}

/// By all threads of a block.
__device__ void tell(Counter** counters, int count, Counter step) {
  for (int i = static_cast<int>(threadIdx.x); i < count; i += static_cast<int>(blockDim.x))
    device::store_release(*counters[i], step);
}

/// Whether the calling block is the first to ask in this step: it may wait, because it waits for no other.
__device__ bool is_first(const DevicePlan& plan) {
  __shared__ bool first;
  if (threadIdx.x == 0) first = atomicAdd(&plan.state->begun, 1u) == 0;
  __syncthreads();
  return first;
}

/// Whether all other blocks have come here; what they have written is then visible to peers that are told.
__device__ bool is_last(const DevicePlan& plan) {
  __shared__ bool last;
  __syncthreads();
  if (threadIdx.x == 0) {
    device::fence_system();
    last = atomicAdd(&plan.state->ended, 1u) + 1 == gridDim.x;
    device::fence_system();
  }
  __syncthreads();
  return last;
}

template <class Unit>
__device__ void copy_units(const CopyBlock& block, std::uint32_t tile) {
  Unit values[tile_turns];
  std::int64_t places[tile_turns];
#pragma unroll
  for (int turn = 0; turn < tile_turns; ++turn) {
    const auto unit = unit_of(block, tile, turn, static_cast<int>(threadIdx.x));
    if (unit >= block.units) continue;
    const auto offsets = offsets_of(block, unit);
    values[turn] = *reinterpret_cast<const Unit*>(block.from + offsets.from);
    places[turn] = offsets.to;
  }
  std::byte* const to = block.to;
  const auto units = block.units;
#pragma unroll
  for (int turn = 0; turn < tile_turns; ++turn)
    if (unit_of(block, tile, turn, static_cast<int>(threadIdx.x)) < units)
      *reinterpret_cast<Unit*>(to + places[turn]) = values[turn];
}

__device__ void copy_tile(const DevicePlan& plan, std::uint32_t tile) {
  const CopyBlock& block = block_of(plan.copy_blocks, plan.block_count, tile);
  switch (block.unit) {
  case 16: return copy_units<uint4>(block, tile);
  case 8: return copy_units<std::uint64_t>(block, tile);
  case 4: return copy_units<std::uint32_t>(block, tile);
  case 2: return copy_units<std::uint16_t>(block, tile);
  default: return copy_units<std::uint8_t>(block, tile);
  }
}

__device__ bool meet(const DevicePlan& plan, bool tells, Counter step) {
  if (tells) tell(plan.tell_free, plan.receives, step);
  return wait(plan, plan.free, plan.sends, plan.receives, step);
}

__global__ void __launch_bounds__(waiting_threads) meet_kernel(const DevicePlan plan) {
  meet(plan, true, plan.state->step + 1);
}

template <bool meets>
__global__ void __launch_bounds__(tile_threads) send_kernel(const DevicePlan plan) {
  const Counter step = plan.state->step + 1;
  bool go = true;
  if constexpr (meets)
    go = meet(plan, is_first(plan), step);
  else
    go = !timed_out(plan);
  if (go)
    for (std::uint32_t tile = blockIdx.x; tile < plan.tiles; tile += gridDim.x) copy_tile(plan, tile);

  if (!is_last(plan)) return;
  if (!timed_out(plan)) tell(plan.tell_arrived, plan.sends, step);
  if (threadIdx.x == 0) {
    plan.state->begun = 0;
    plan.state->ended = 0;
    plan.state->step = step;
  }
}

__global__ void __launch_bounds__(waiting_threads) receive_kernel(const DevicePlan plan) {
  wait(plan, plan.arrived, plan.receives, 0, plan.state->step);
}

template <class Kernel>
cudaError_t launch(Kernel kernel, unsigned blocks, unsigned threads, const DevicePlan& plan,
                   cudaStream_t stream) {
  void* arguments[] = {const_cast<DevicePlan*>(&plan)};
  return cudaLaunchKernel(reinterpret_cast<const void*>(kernel), dim3(blocks), dim3(threads), arguments, 0,
                          stream);
}

} // namespace

cudaError_t launch_start(const DevicePlan& plan, cudaStream_t stream) {
  if (plan.receives == 0 && plan.sends == 0) return cudaSuccess;
  const auto wanted = plan.tiles > 0 ? plan.tiles : 1;
  const auto blocks = wanted < plan.most_blocks ? wanted : plan.most_blocks;
  if (blocks <= few_blocks) return launch(send_kernel<true>, blocks, tile_threads, plan, stream);
  const auto code = launch(meet_kernel, 1, waiting_threads, plan, stream);
  return code != cudaSuccess ? code : launch(send_kernel<false>, blocks, tile_threads, plan, stream);
}

cudaError_t launch_finish(const DevicePlan& plan, cudaStream_t stream) {
  if (plan.receives == 0) return cudaSuccess;
  return launch(receive_kernel, 1, waiting_threads, plan, stream);
}

} // namespace kontor::comm::ipc
