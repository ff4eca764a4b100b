// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backend/nccl/nccl_comm.hpp"
#include "base/agree.hpp"

#include <kontor/device/uuid.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace kontor::comm::nccl {
namespace {

/// The GPU of one rank, as it travels.
struct Device {
  device::GpuUuid uuid{};
  int visible = 0; ///< GPUs that the rank can choose from
  char name[sizeof cudaDeviceProp::name] = {};
  char host[MPI_MAX_PROCESSOR_NAME] = {};
};

Device own_device() {
  Device device;
  int index = 0;
  check(cudaGetDeviceCount(&device.visible), "no GPU can be used: cudaGetDeviceCount");
  check(cudaGetDevice(&index), "cudaGetDevice");
  cudaDeviceProp properties;
  check(cudaGetDeviceProperties(&properties, index), "cudaGetDeviceProperties");
  check(device::get_uuid(device.uuid, index), "cudaGetDeviceProperties");
  std::copy_n(properties.name, sizeof device.name, device.name);
  int length = 0;
  mpi::check(MPI_Get_processor_name(device.host, &length), "MPI_Get_processor_name");
  return device;
}

} // namespace

void refuse_shared_devices(MPI_Comm comm) {
  const int size = mpi::size_of(comm);
  Device mine;
  mpi::agree(comm, "backend 'nccl'", [&] { mine = own_device(); });
  std::vector<device::GpuUuid> uuids(static_cast<std::size_t>(size));
  mpi::check(MPI_Allgather(mine.uuid.data(), sizeof(device::GpuUuid), MPI_BYTE, uuids.data(), sizeof(device::GpuUuid),
                           MPI_BYTE, comm),
             "MPI_Allgather");

  std::map<device::GpuUuid, int> users;
  for (int r = 0; r < size; ++r) {
    const auto [first, alone] = users.try_emplace(uuids[static_cast<std::size_t>(r)], r);
    if (alone) continue;
    auto device = mine; // all ranks have found the same two
    mpi::check(MPI_Bcast(&device, sizeof(Device), MPI_BYTE, r, comm), "MPI_Bcast");
    throw UsageError(fmt::format("backend 'nccl' takes one GPU for each rank, but ranks {} and {} both use "
                                 "the {} with UUID {} on host {}, "
                                 "where rank {} can choose from {}; start one rank a GPU, or choose backend "
                                 "'ipc', or 'view' with path "
                                 "'staged'",
                                 first->second, r, device.name, device::to_string(device.uuid), device.host, r,
                                 device.visible),
                     Axis::backend);
  }
}

} // namespace kontor::comm::nccl
