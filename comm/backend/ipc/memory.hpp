// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "backend/gpu_runtime.hpp"
#include "base/agree.hpp"

#include <kontor/device/noncopyable.hpp>
#include <kontor/device/uuid.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

/// Device memory that other processes of the node write into.
namespace kontor::comm::ipc {

/// Where something lies, as it is told to another process. Trivially copyable.
struct IpcAddress {
  cudaIpcMemHandle_t allocation; ///< that it lies in
  std::int64_t offset;           ///< bytes from the beginning of the allocation
  std::byte* address;            ///< in the process that it belongs to
  device::GpuUuid gpu;           ///< whose memory it is
};

/// The place so many bytes further on in the same allocation.
inline IpcAddress operator+(IpcAddress place, std::int64_t bytes) {
  place.offset += bytes;
  place.address += bytes;
  return place;
}

/// Which GPUs a process can use, by ordinal.
using Gpus = std::vector<device::GpuUuid>;

/// Local. Throws Error if there are none.
Gpus visible_gpus();

/// Local. `what` is for errors: "View 'u'". Throws Error with the reason if other processes cannot be let in.
IpcAddress address_of(void* data, const Gpus&, const std::string& what);

/// The memory of other processes that has been mapped into this one, each allocation once.
class Mappings : device::NonCopyable {
 public:
  /// `rank`: whose process this is.
  Mappings(Gpus gpus, int rank) : gpus_(std::move(gpus)), rank_(rank) {}
  ~Mappings() { close(); }

  /// Local. The address at which kernels of this process find a place of rank `owner`. `what` is for errors: "View 'u'
  /// of rank 3". Throws Error if this process' GPU cannot reach it, with the reason.
  std::byte* open(const IpcAddress&, int owner, const std::string& what);
  /// Local. No kernel of this process may still use the addresses.
  void close();

  /// Collective. `open` opens the mappings of this rank; if one of them cannot, all close theirs and throw UsageError.
  template <class Open>
  void open_on_all_ranks(MPI_Comm comm, const std::string& subject, const Open& open) {
    try {
      mpi::agree(comm, subject, open, Axis::backend);
    } catch (const UsageError&) { // on all ranks; after an error of MPI others do not come to the barrier
      close_on_all_ranks(comm);
      throw;
    }
  }
  /// Collective. Likewise: a place of each rank, as kernels of this process find them. `what` is for errors: "the
  /// mailbox".
  std::vector<std::byte*> open_all(MPI_Comm, const std::string& subject, const IpcAddress& mine, const char* what);
  /// Collective; no kernel may still use the addresses. Nobody has this rank's memory mapped any more, so that it may
  /// be freed. Where MPI reports an error the program ends, or the others would wait.
  void close_on_all_ranks(MPI_Comm comm) noexcept {
    close();
    mpi::check_or_terminate(MPI_Barrier(comm), "MPI_Barrier");
  }

 private:
  Gpus gpus_;
  int rank_;
  std::vector<void*> opened_;
};

struct FreeDevice {
  void operator()(void* data) const { static_cast<void>(cudaFree(data)); }
};
struct FreePinned {
  void operator()(void* data) const { static_cast<void>(cudaFreeHost(data)); }
};

/// Device memory of this process' own.
template <class T>
using DeviceArray = std::unique_ptr<T[], FreeDevice>;
/// Host memory that kernels reach.
template <class T>
using Pinned = std::unique_ptr<T, FreePinned>;

void* allocate_device(std::size_t bytes);
void* allocate_pinned(std::size_t bytes);
void copy_to_device(void* to, const void* from, std::size_t bytes, cudaStream_t);

/// Local. A copy in device memory, as soon as the stream has come there. Throws Error.
template <class T>
DeviceArray<T> to_device(const std::vector<T>& values, cudaStream_t stream) {
  static_assert(std::is_trivially_copyable_v<T>);
  if (values.empty()) return nullptr;
  const auto bytes = values.size() * sizeof(T);
  DeviceArray<T> array(static_cast<T*>(allocate_device(bytes)));
  copy_to_device(array.get(), values.data(), bytes, stream);
  return array;
}

/// Local. Throws Error.
template <class T>
Pinned<T> make_pinned() {
  return Pinned<T>(new (allocate_pinned(sizeof(T))) T);
}

} // namespace kontor::comm::ipc
