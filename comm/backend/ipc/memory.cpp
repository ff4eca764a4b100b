// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backend/ipc/memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <mutex>

#if !defined(__HIP__)
#include <cudaTypedefs.h>
#endif

namespace kontor::comm::ipc {
namespace {

#if defined(__HIP__)

std::byte* allocation_of(void* data, const std::string& what) {
  hipDeviceptr_t base = nullptr;
  std::size_t bytes = 0;
  check(hipMemGetAddressRange(&base, &bytes, data), fmt::format("hipMemGetAddressRange of {}", what));
  return static_cast<std::byte*>(base);
}

bool is_managed(const cudaPointerAttributes& attributes) { return attributes.isManaged != 0; }

bool is_of_device(const cudaPointerAttributes& attributes) { return attributes.memoryType == hipMemoryTypeDevice; }

#else

/// From the driver by name, so that programs start where there is none.
PFN_cuMemGetAddressRange_v3020 address_range() {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSymbolNotFound;
#if CUDART_VERSION >= 12050
  check(cudaGetDriverEntryPointByVersion("cuMemGetAddressRange", &function, 12000, cudaEnableDefault, &found),
        "cudaGetDriverEntryPointByVersion");
#else
  check(cudaGetDriverEntryPoint("cuMemGetAddressRange", &function, cudaEnableDefault, &found),
        "cudaGetDriverEntryPoint");
#endif
  if (found != cudaDriverEntryPointSuccess) throw Error("the CUDA driver has no cuMemGetAddressRange", "E-GPU-CALL");
  return reinterpret_cast<PFN_cuMemGetAddressRange_v3020>(function);
}

std::byte* allocation_of(void* data, const std::string& what) {
  CUdeviceptr base = 0;
  std::size_t bytes = 0;
  const auto code = address_range()(&base, &bytes, reinterpret_cast<CUdeviceptr>(data));
  if (code != CUDA_SUCCESS)
    throw Error(fmt::format("cuMemGetAddressRange of {} failed with code {}", what, static_cast<int>(code)),
                "E-GPU-CALL");
  return reinterpret_cast<std::byte*>(base);
}

bool is_managed(const cudaPointerAttributes& attributes) { return attributes.type == cudaMemoryTypeManaged; }

bool is_of_device(const cudaPointerAttributes& attributes) { return attributes.type == cudaMemoryTypeDevice; }

#endif

/// The allocations of other processes that this one has mapped, and how many places use each: opened and closed once,
/// because CUDA's tools that check memory forget an allocation that is closed as often as it was opened.
class Opened {
 public:
  static Opened& of_process() {
    static Opened opened;
    return opened;
  }

  cudaError_t open(void** base, const cudaIpcMemHandle_t& handle) {
    const std::lock_guard lock(mutex_);
    if (const auto found = std::ranges::find_if(all_, [&](const Allocation& one) { return one.is(handle); });
        found != all_.end()) {
      ++found->uses;
      *base = found->base;
      return cudaSuccess;
    }
    const auto code = cudaIpcOpenMemHandle(base, handle, cudaIpcMemLazyEnablePeerAccess);
    if (code == cudaSuccess) all_.push_back({handle, *base, 1});
    return code;
  }

  void close(void* base) {
    const std::lock_guard lock(mutex_);
    const auto found = std::ranges::find(all_, base, &Allocation::base);
    if (--found->uses > 0) return;
    static_cast<void>(cudaIpcCloseMemHandle(base));
    all_.erase(found);
  }

 private:
  struct Allocation {
    cudaIpcMemHandle_t handle;
    void* base;
    int uses;
    bool is(const cudaIpcMemHandle_t& other) const { return std::memcmp(&handle, &other, sizeof handle) == 0; }
  };
  std::mutex mutex_;
  std::vector<Allocation> all_;
};

constexpr const char* alternatives = "choose backend 'nccl', or 'raw' or 'view' with path 'staged'";

/// Whether the GPU is visible here: CUDA may map its memory even if it is not.
bool is_visible(const device::GpuUuid& gpu, const Gpus& gpus, const std::string& what) {
  const auto found = std::find(gpus.begin(), gpus.end(), gpu);
  if (found == gpus.end()) return false;
  const auto theirs = static_cast<int>(found - gpus.begin());
  int mine = 0;
  int can = 0;
  check(cudaGetDevice(&mine), "cudaGetDevice");
  if (mine == theirs) return true;
  check(cudaDeviceCanAccessPeer(&can, mine, theirs), "cudaDeviceCanAccessPeer");
  if (!can)
    throw Error(fmt::format("GPU {} has no peer-to-peer access to GPU {}, needed for {} (nvidia-smi topo -p2p "
                            "w shows which have); {}",
                            mine, theirs, what, alternatives),
                "E-COMM-BACKEND");
  return true;
}

} // namespace

Gpus visible_gpus() {
  int count = 0;
  check(cudaGetDeviceCount(&count), "no GPU can be used: cudaGetDeviceCount");
  Gpus gpus(static_cast<std::size_t>(count));
  for (int device = 0; device < count; ++device)
    check(device::get_uuid(gpus[static_cast<std::size_t>(device)], device), "cudaGetDeviceProperties");
  return gpus;
}

IpcAddress address_of(void* data, const Gpus& gpus, const std::string& what) {
  cudaPointerAttributes attributes;
  check(cudaPointerGetAttributes(&attributes, data), fmt::format("cudaPointerGetAttributes of {}", what));
  if (is_managed(attributes))
    throw Error(fmt::format("{} lies in managed memory (Kokkos' CudaUVMSpace), which CUDA IPC cannot let "
                            "other processes write into; put it into CudaSpace, or {}",
                            what, alternatives),
                "E-COMM-BACKEND");
  if (!is_of_device(attributes))
    throw Error(fmt::format("{} does not lie in a GPU's memory, and backend 'ipc' carries nothing else; choose "
                            "backend 'shm', 'raw' or 'view'",
                            what),
                "E-COMM-BACKEND");
  auto* const base = allocation_of(data, what);
  IpcAddress place{{}, static_cast<std::byte*>(data) - base, static_cast<std::byte*>(data), gpus.at(attributes.device)};
  const auto code = cudaIpcGetMemHandle(&place.allocation, base);
  if (code == cudaErrorInvalidValue || code == cudaErrorNotSupported) {
    static_cast<void>(cudaGetLastError());
    throw Error(fmt::format("CUDA IPC cannot let other processes into {} (cudaIpcGetMemHandle: {}): it takes "
                            "what cudaMalloc has "
                            "given, and not what comes from a memory pool (cudaMallocAsync) or from virtual "
                            "memory management; "
                            "build Kokkos with -DKokkos_ENABLE_IMPL_CUDA_MALLOC_ASYNC=OFF, or {}",
                            what, cudaGetErrorString(code), alternatives),
                "E-COMM-BACKEND");
  }
  check(code, fmt::format("cudaIpcGetMemHandle of {}", what));
  return place;
}

std::byte* Mappings::open(const IpcAddress& place, int owner, const std::string& what) {
  if (owner == rank_) return place.address; // CUDA does not let a process open what is its own
  const bool visible = is_visible(place.gpu, gpus_, what);
  void* base = nullptr;
  const auto code = Opened::of_process().open(&base, place.allocation);
  if (code != cudaSuccess && !visible) {
    static_cast<void>(cudaGetLastError());
    throw Error(fmt::format("cudaIpcOpenMemHandle of {} failed: {}; its GPU is hidden from this process by "
                            "CUDA_VISIBLE_DEVICES "
                            "or by the launcher (srun --gpus-per-task and --gpu-bind do so); let every rank "
                            "see all GPUs of the "
                            "node (srun --gpus-per-node, mpirun without bindings), or {}",
                            what, cudaGetErrorString(code), alternatives),
                "E-COMM-BACKEND");
  }
  if (code == cudaErrorAlreadyMapped) {
    static_cast<void>(cudaGetLastError());
    throw Error(fmt::format("cudaIpcOpenMemHandle of {} failed: another library of this process, such as UCX "
                            "under MPI, still "
                            "has mapped what was there before; UCX_CUDA_IPC_CACHE=n in the environment stops "
                            "UCX from that, or "
                            "{}",
                            what, alternatives),
                "E-COMM-BACKEND");
  }
  check(code, fmt::format("cudaIpcOpenMemHandle of {}", what));
  opened_.push_back(base);
  return static_cast<std::byte*>(base) + place.offset;
}

std::vector<std::byte*> Mappings::open_all(MPI_Comm comm, const std::string& subject, const IpcAddress& mine,
                                           const char* what) {
  std::vector<IpcAddress> all(static_cast<std::size_t>(mpi::size_of(comm)));
  mpi::check(MPI_Allgather(&mine, sizeof mine, MPI_BYTE, all.data(), sizeof mine, MPI_BYTE, comm), "MPI_Allgather");
  std::vector<std::byte*> places;
  open_on_all_ranks(comm, subject, [&] {
    for (int rank = 0; const auto& place : all) {
      places.push_back(open(place, rank, fmt::format("{} of rank {}", what, rank)));
      ++rank;
    }
  });
  return places;
}

void Mappings::close() {
  for (auto* base : opened_) Opened::of_process().close(base);
  opened_.clear();
}

void* allocate_device(std::size_t bytes) {
  void* data = nullptr;
  check(cudaMalloc(&data, bytes), fmt::format("cudaMalloc of {} bytes", bytes));
  return data;
}

void* allocate_pinned(std::size_t bytes) {
  void* data = nullptr;
  check(cudaHostAlloc(&data, bytes, cudaHostAllocDefault), fmt::format("cudaHostAlloc of {} bytes", bytes));
  return data;
}

void copy_to_device(void* to, const void* from, std::size_t bytes, cudaStream_t stream) {
  check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, stream), "cudaMemcpyAsync");
}

} // namespace kontor::comm::ipc
